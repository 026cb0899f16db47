// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/filter_terms.h"

#include "views/base/formatting.h"
#include "views/base/trace_facts.h"

#include <QCoreApplication>
#include <QRegularExpression>

#include <array>
#include <cmath>

namespace views {

namespace {

using Test = std::function<bool(const FilterSubject &, core::OpId)>;

QString words(const char *text)
{
    return QCoreApplication::translate("views::OpFilter", text);
}

FilterTerm term(Test test, const QString &explanation)
{
    auto node = std::make_shared<OpFilter::Node>();
    node->test = std::move(test);
    node->description = explanation;
    return {node, {}};
}

FilterTerm wrong(const QString &problem)
{
    return {nullptr, problem};
}

const core::TensorStats *statsOf(const FilterSubject &subject, core::OpId op)
{
    return views::statsOf(subject.trace, subject.facts, subject.trace.op(op).tensor);
}

std::string_view moduleOfRow(const FilterSubject &subject, core::OpId op)
{
    return subject.trace.moduleAddress(op);
}

double orNan(std::int64_t value)
{
    return value < 0 ? std::nan("") : static_cast<double>(value);
}

struct NumberField
{
    const char *name;
    const char *explanation;
    double (*value)(const FilterSubject &, core::OpId);
};

// A value that is not known is NaN and matches no comparison.
constexpr auto kNotMeasured = [] { return std::nan(""); };

const std::array kNumbers = {
    NumberField{"nan", "NaN count",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s ? static_cast<double>(s->nan) : kNotMeasured();
                }},
    NumberField{"inf", "Inf count",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s ? static_cast<double>(s->posInf + s->negInf) : kNotMeasured();
                }},
    NumberField{"zero", "zero count",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s ? static_cast<double>(s->zero) : kNotMeasured();
                }},
    NumberField{"subnormal", "subnormal count",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s ? static_cast<double>(s->subnormal) : kNotMeasured();
                }},
    NumberField{"min", "smallest value",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s && s->hasFinite() ? s->min : kNotMeasured();
                }},
    NumberField{"max", "largest value",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s && s->hasFinite() ? s->max : kNotMeasured();
                }},
    NumberField{"absmax", "largest magnitude",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s && s->hasFinite() ? s->absMax : kNotMeasured();
                }},
    NumberField{"mean", "mean",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s && s->hasFinite() ? s->mean : kNotMeasured();
                }},
    NumberField{"std", "standard deviation",
                [](const FilterSubject &t, core::OpId op) {
                    const core::TensorStats *s = statsOf(t, op);
                    return s && s->hasFinite() ? s->std : kNotMeasured();
                }},
    NumberField{"time", "duration",
                [](const FilterSubject &t, core::OpId op) { return orNan(t.trace.callOf(op).durationNs); }},
    NumberField{"bytes", "bytes",
                [](const FilterSubject &t, core::OpId op) { return orNan(t.trace.op(op).bytes); }},
    NumberField{"flops", "FLOPs",
                [](const FilterSubject &t, core::OpId op) { return orNan(t.trace.op(op).flopsForward); }},
    NumberField{
        "step", "step",
        [](const FilterSubject &t, core::OpId op) { return static_cast<double>(t.trace.op(op).step); }},
};

// "100us", "2.5ms", "4k", "1e-7", "3MiB": nanoseconds, bytes or the plain number.
std::optional<double> parseQuantity(const QString &text)
{
    static const QRegularExpression form(
        QStringLiteral("^([-+]?(?:[0-9]*\\.)?[0-9]+(?:e[-+]?[0-9]+)?|inf|[-+]inf)([a-zA-Zµ]*)$"),
        QRegularExpression::CaseInsensitiveOption);
    const QRegularExpressionMatch match = form.match(text);
    if (!match.hasMatch())
        return std::nullopt;
    const double number = match.captured(1).toDouble();
    const QString unit = match.captured(2);
    static const std::array<std::pair<const char *, double>, 15> units = {{{"", 1},
                                                                           {"ns", 1},
                                                                           {"us", 1e3},
                                                                           {"µs", 1e3},
                                                                           {"ms", 1e6},
                                                                           {"s", 1e9},
                                                                           {"k", 1e3},
                                                                           {"K", 1e3},
                                                                           {"M", 1e6},
                                                                           {"G", 1e9},
                                                                           {"B", 1},
                                                                           {"KiB", 1024.0},
                                                                           {"MiB", 1048576.0},
                                                                           {"GiB", 1073741824.0},
                                                                           {"T", 1e12}}};
    for (const auto &[name, factor] : units)
        if (unit == QString::fromUtf8(name))
            return number * factor;
    return std::nullopt;
}

FilterTerm numberTerm(const NumberField &field, const QString &sign, const QString &value)
{
    const std::optional<double> limit = parseQuantity(value);
    if (!limit)
        return wrong(words("“%1” is not a number").arg(value));
    const auto read = field.value;
    const double bound = *limit;
    const QString explanation = words("%1 %2 %3").arg(words(field.explanation), sign, value);
    if (sign == QLatin1String(">"))
        return term([=](const FilterSubject &t, core::OpId op) { return read(t, op) > bound; }, explanation);
    if (sign == QLatin1String("<"))
        return term([=](const FilterSubject &t, core::OpId op) { return read(t, op) < bound; }, explanation);
    if (sign == QLatin1String(">="))
        return term([=](const FilterSubject &t, core::OpId op) { return read(t, op) >= bound; }, explanation);
    if (sign == QLatin1String("<="))
        return term([=](const FilterSubject &t, core::OpId op) { return read(t, op) <= bound; }, explanation);
    return term([=](const FilterSubject &t, core::OpId op) { return read(t, op) == bound; }, explanation);
}

// "*" stands for one dimension, "..." for any number of them.
bool shapeMatches(std::span<const QString> pattern, std::span<const std::int64_t> shape)
{
    if (pattern.empty())
        return shape.empty();
    if (pattern.front() == QLatin1String("...")) {
        for (std::size_t skip = 0; skip <= shape.size(); ++skip)
            if (shapeMatches(pattern.subspan(1), shape.subspan(skip)))
                return true;
        return false;
    }
    if (shape.empty())
        return false;
    const bool same =
        pattern.front() == QLatin1String("*") || pattern.front() == QString::number(shape.front());
    return same && shapeMatches(pattern.subspan(1), shape.subspan(1));
}

FilterTerm shapeTerm(QString value)
{
    if (!value.startsWith(QLatin1Char('[')))
        return wrong(words("a shape is written [4, *]; “%1” has no bracket").arg(value));
    const bool open = !value.endsWith(QLatin1Char(']'));
    value = value.mid(1, value.size() - (open ? 1 : 2));
    std::vector<QString> pattern;
    for (const QString &part : value.split(QLatin1Char(','), Qt::SkipEmptyParts)) {
        const QString dimension = part.trimmed();
        bool isNumber = false;
        dimension.toLongLong(&isNumber);
        if (!isNumber && dimension != QLatin1String("*") && dimension != QLatin1String("..."))
            return wrong(words("“%1” is not a dimension").arg(dimension));
        pattern.push_back(dimension);
    }
    if (open)
        pattern.push_back(QStringLiteral("..."));
    return term(
        [pattern](const FilterSubject &t, core::OpId op) {
            const core::TensorId tensor = t.trace.op(op).tensor;
            return tensor.isValid() && t.trace.tensor(tensor).shapeKnown &&
                   shapeMatches(pattern, t.trace.shape(tensor));
        },
        words("of shape [%1]").arg(value));
}

FilterTerm dtypeTerm(const QString &value)
{
    QString name = value;
    if (name.startsWith(QLatin1String("fp")))
        name = QLatin1Char('f') + name.mid(2);
    const auto dtype = core::dtypeFromName(name.toStdString());
    if (!dtype)
        return wrong(words("“%1” is not a dtype").arg(value));
    return term(
        [wanted = *dtype](const FilterSubject &t, core::OpId op) {
            const core::TensorId tensor = t.trace.op(op).tensor;
            return tensor.isValid() && t.trace.tensor(tensor).dtype == wanted;
        },
        words("of dtype %1").arg(dtypeText(*dtype)));
}

// "model.py", "116", "model.py:116", "model.py:110-120".
FilterTerm lineTerm(const QString &value)
{
    static const QRegularExpression form(QStringLiteral("^(?:(.*?):)?(\\d+)(?:-(\\d+))?$"));
    const QRegularExpressionMatch match = form.match(value);
    const std::string file = (match.hasMatch() ? match.captured(1) : value).toStdString();
    const std::uint32_t first = match.hasMatch() ? match.captured(2).toUInt() : 0;
    const std::uint32_t last = match.hasMatch() && match.capturedLength(3) > 0
                                   ? match.captured(3).toUInt()
                                   : (match.hasMatch() ? first : 0xffffffffU);
    if (last < first)
        return wrong(words("the range ends at %1, before it starts at %2").arg(last).arg(first));
    return term(
        [file, first, last](const FilterSubject &t, core::OpId op) {
            const core::FrameId id = t.trace.sourceFrame(t.trace.callOf(op).stack);
            if (!id.isValid())
                return false;
            const core::FrameRow &frame = t.trace.frame(id);
            const std::uint32_t line = frame.line.oneBased();
            return line >= first && line <= last &&
                   (file.empty() || matchesGlob("*" + file, t.trace.string(frame.file)));
        },
        words("from %1").arg(value));
}

FilterTerm globTerm(const QString &value, const char *explanation,
                    std::string_view (*read)(const FilterSubject &, core::OpId))
{
    const std::string pattern = value.toStdString();
    return term(
        [pattern, read](const FilterSubject &t, core::OpId op) { return matchesGlob(pattern, read(t, op)); },
        words(explanation).arg(value));
}

FilterTerm moduleTerm(const QString &value)
{
    const std::string pattern = value.toStdString();
    const std::string below = pattern + ".*";
    return term(
        [pattern, below](const FilterSubject &t, core::OpId op) {
            const std::string_view module = moduleOfRow(t, op);
            return matchesGlob(pattern, module) || matchesGlob(below, module);
        },
        words("in module %1 or below it").arg(value));
}

FilterTerm flagTerm(const QString &name)
{
    const auto call = [&name](bool (*read)(const core::CallRow &), const char *explanation) {
        Q_UNUSED(name);
        return term([read](const FilterSubject &t, core::OpId op) { return read(t.trace.callOf(op)); },
                    words(explanation));
    };
    if (name == QLatin1String("saved"))
        return term(
            [](const FilterSubject &t, core::OpId op) {
                const core::TensorId tensor = t.trace.op(op).tensor;
                return tensor.isValid() && t.trace.tensor(tensor).payload.state == core::PayloadState::saved;
            },
            words("whose values are saved"));
    if (name == QLatin1String("inplace"))
        return call([](const core::CallRow &c) { return c.inPlace; }, "that write in place");
    if (name == QLatin1String("view"))
        return call([](const core::CallRow &c) { return c.view; }, "that are views");
    if (name == QLatin1String("random"))
        return call([](const core::CallRow &c) { return c.consumesRng; }, "that draw random numbers");
    return {};
}

FilterTerm textTerm(const QString &text)
{
    const std::string pattern = "*" + text.toStdString() + "*";
    return term(
        [pattern](const FilterSubject &t, core::OpId op) {
            return matchesGlob(pattern, t.trace.label(op)) || matchesGlob(pattern, moduleOfRow(t, op)) ||
                   matchesGlob(pattern, t.trace.string(t.trace.callOf(op).op));
        },
        words("with “%1” in name or module").arg(text));
}

FilterTerm regexTerm(const QString &text)
{
    const QRegularExpression regex(text, QRegularExpression::CaseInsensitiveOption);
    if (!regex.isValid())
        return wrong(words("/%1/ is no regular expression: %2").arg(text, regex.errorString()));
    return term(
        [regex](const FilterSubject &t, core::OpId op) {
            return regex.match(fromView(t.trace.label(op))).hasMatch() ||
                   regex.match(fromView(moduleOfRow(t, op))).hasMatch();
        },
        words("matching /%1/").arg(text));
}

std::string_view kindOf(const FilterSubject &t, core::OpId op)
{
    return t.trace.string(t.trace.callOf(op).func);
}

std::string_view opNameOf(const FilterSubject &t, core::OpId op)
{
    return t.trace.string(t.trace.callOf(op).op);
}

std::string_view labelOf(const FilterSubject &t, core::OpId op)
{
    return t.trace.label(op);
}

FilterTerm keyedTerm(const QString &key, const QString &value)
{
    if (value.isEmpty())
        return wrong(words("“%1:” needs a value").arg(key));
    if (key == QLatin1String("kind"))
        return globTerm(value, "of kind %1", &kindOf);
    if (key == QLatin1String("op"))
        return globTerm(value, "whose op is %1", &opNameOf);
    if (key == QLatin1String("name"))
        return globTerm(value, "named %1", &labelOf);
    if (key == QLatin1String("module"))
        return moduleTerm(value);
    if (key == QLatin1String("shape"))
        return shapeTerm(value);
    if (key == QLatin1String("dtype"))
        return dtypeTerm(value);
    if (key == QLatin1String("line"))
        return lineTerm(value);
    return wrong(words("“%1” is not a field; there are kind, op, name, module, shape, dtype, line").arg(key));
}

} // namespace

FilterTerm makeFilterTerm(const FilterToken &token)
{
    if (token.kind == FilterToken::Kind::text)
        return textTerm(token.text);
    if (token.kind == FilterToken::Kind::regex)
        return regexTerm(token.text);
    static const QRegularExpression comparison(QStringLiteral("^([a-z]+)(>=|<=|>|<|=)(.*)$"));
    const QRegularExpressionMatch match = comparison.match(token.text);
    if (match.hasMatch()) {
        for (const NumberField &field : kNumbers)
            if (match.captured(1) == QLatin1String(field.name))
                return numberTerm(field, match.captured(2), match.captured(3));
        return wrong(words("“%1” is not a number of an op").arg(match.captured(1)));
    }
    const qsizetype colon = token.text.indexOf(QLatin1Char(':'));
    if (colon > 0)
        return keyedTerm(token.text.left(colon), token.text.mid(colon + 1));
    const FilterTerm flag = flagTerm(token.text);
    return flag.node ? flag : textTerm(token.text);
}

} // namespace views
