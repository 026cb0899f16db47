// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/row_filter.h"

#include "core/base/near_names.h"
#include "views/base/filter_token.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

namespace views {

namespace {

QString words(const char *text)
{
    return QCoreApplication::translate("views::RowFilter", text);
}

bool anyCell(const TableSource &source, std::size_t row, const std::function<bool(const QString &)> &test)
{
    for (std::size_t column = 0; column < source.columns().size(); ++column)
        if (test(source.text(row, column)))
            return true;
    return false;
}

} // namespace

// any := all ('|' all)*, all := ('-'? term)+.
class RowFilterParser
{
public:
    RowFilterParser(std::vector<FilterToken> tokens, const std::vector<TableColumn> &columns)
        : m_tokens(std::move(tokens)), m_columns(columns)
    {
    }

    RowFilter::Parsed run()
    {
        RowFilter filter;
        filter.m_any.emplace_back();
        bool negated = false;
        for (const FilterToken &token : m_tokens) {
            if (token.kind == FilterToken::Kind::negation) {
                negated = !negated;
            } else if (token.kind == FilterToken::Kind::either) {
                if (negated || filter.m_any.back().empty())
                    fail(token, words("a condition is missing before this"));
                filter.m_any.emplace_back();
            } else {
                RowFilter::Term term = termOf(token);
                term.negated = negated;
                negated = false;
                filter.m_any.back().push_back(std::move(term));
            }
        }
        if (negated || filter.m_any.back().empty())
            fail(m_tokens.back(), words("a condition is missing after this"));
        if (m_problem)
            return {RowFilter(), m_problem};
        return {std::move(filter), std::nullopt};
    }

private:
    void fail(const FilterToken &token, const QString &message)
    {
        if (!m_problem)
            m_problem = OpFilter::Problem{token.position, token.length, message};
    }

    RowFilter::Term termOf(const FilterToken &token)
    {
        switch (token.kind) {
        case FilterToken::Kind::regex:
            return regexTerm(token);
        case FilterToken::Kind::open:
        case FilterToken::Kind::close:
            fail(token, words("brackets are for the filter of ops; here “|” is weaker than a blank"));
            return {};
        case FilterToken::Kind::word:
            return wordTerm(token);
        default:
            return textTerm(token.text);
        }
    }

    RowFilter::Term regexTerm(const FilterToken &token)
    {
        const QRegularExpression pattern(token.text, QRegularExpression::CaseInsensitiveOption);
        if (!pattern.isValid())
            fail(token, words("this is no regular expression: %1").arg(pattern.errorString()));
        return {[pattern](const TableSource &source, std::size_t row) {
                    return anyCell(source, row,
                                   [&](const QString &cell) { return pattern.match(cell).hasMatch(); });
                },
                words("some cell matches /%1/").arg(token.text)};
    }

    static RowFilter::Term textTerm(const QString &text)
    {
        return {[text](const TableSource &source, std::size_t row) {
                    return anyCell(source, row, [&](const QString &cell) {
                        return cell.contains(text, Qt::CaseInsensitive);
                    });
                },
                words("some cell holds “%1”").arg(text)};
    }

    // The word up to the first of ":", "<", ">", "=" is a column when it is one; a place such as
    // "model.py:14" is text.
    RowFilter::Term wordTerm(const FilterToken &token)
    {
        static const QRegularExpression form(QStringLiteral("^([^:<>=]+)(:|<=|>=|<|>|=)(.*)$"));
        const QRegularExpressionMatch match = form.match(token.text);
        if (!match.hasMatch())
            return textTerm(token.text);
        const QString name = match.captured(1);
        const QString sign = match.captured(2);
        const auto column = columnNamed(name);
        if (!column) {
            if (sign == QLatin1String(":") && name.contains(QLatin1Char('.')))
                return textTerm(token.text);
            fail(token, words("no column is called “%1”%2").arg(name, nearColumns(name)));
            return {};
        }
        return sign == QLatin1String(":") ? patternTerm(*column, match.captured(3))
                                          : comparison(token, *column, sign, match.captured(3));
    }

    RowFilter::Term patternTerm(std::size_t column, const QString &pattern) const
    {
        const std::string glob = pattern.toStdString();
        return {[column, glob](const TableSource &source, std::size_t row) {
                    return matchesGlob(glob, source.text(row, column).toStdString());
                },
                words("%1 is %2").arg(m_columns[column].title, pattern)};
    }

    RowFilter::Term comparison(const FilterToken &token, std::size_t column, const QString &sign,
                               const QString &text)
    {
        bool isNumber = false;
        const double limit = text.toDouble(&isNumber);
        if (!isNumber)
            fail(token, words("“%1” is no number to compare with").arg(text));
        else if (!m_columns[column].isNumber)
            fail(token, words("column %1 holds no numbers").arg(m_columns[column].key));
        const auto test = [sign, limit](double value) {
            if (sign == QLatin1String("<"))
                return value < limit;
            if (sign == QLatin1String("<="))
                return value <= limit;
            if (sign == QLatin1String(">"))
                return value > limit;
            return sign == QLatin1String(">=") ? value >= limit : value == limit;
        };
        return {[column, test](const TableSource &source, std::size_t row) {
                    return test(source.number(row, column));
                },
                QStringLiteral("%1 %2 %3").arg(m_columns[column].title, sign, text)};
    }

    std::optional<std::size_t> columnNamed(const QString &name) const
    {
        for (std::size_t i = 0; i < m_columns.size(); ++i)
            if (m_columns[i].key.compare(name, Qt::CaseInsensitive) == 0)
                return i;
        return std::nullopt;
    }

    QString nearColumns(const QString &name) const
    {
        std::vector<std::string> keys;
        for (const TableColumn &column : m_columns)
            keys.push_back(column.key.toStdString());
        const std::vector<std::string_view> views(keys.begin(), keys.end());
        const std::string wanted = name.toStdString();
        QStringList near;
        for (const std::string_view key : core::nearNames(wanted, views))
            near.append(QString::fromUtf8(key.data(), static_cast<qsizetype>(key.size())));
        if (near.isEmpty())
            for (const TableColumn &column : m_columns)
                near.append(column.key);
        return words("; there is %1").arg(near.join(QStringLiteral(", ")));
    }

    std::vector<FilterToken> m_tokens;
    const std::vector<TableColumn> &m_columns;
    std::optional<OpFilter::Problem> m_problem;
};

RowFilter::Parsed RowFilter::parse(const QString &text, const std::vector<TableColumn> &columns)
{
    FilterTokens tokens = tokenizeFilter(text);
    if (tokens.brokenAt >= 0)
        return {RowFilter(),
                OpFilter::Problem{tokens.brokenAt, static_cast<int>(text.size()) - tokens.brokenAt,
                                  words("the mark that starts here has no partner")}};
    if (tokens.tokens.empty())
        return {};
    return RowFilterParser(std::move(tokens.tokens), columns).run();
}

bool RowFilter::matches(const TableSource &source, std::size_t row) const
{
    const auto one = [&](const Term &term) { return term.test(source, row) != term.negated; };
    return m_any.empty() || std::any_of(m_any.begin(), m_any.end(), [&](const All &all) {
               return std::all_of(all.begin(), all.end(), one);
           });
}

std::vector<std::uint32_t> RowFilter::matching(const TableSource &source) const
{
    std::vector<std::uint32_t> rows;
    for (std::size_t row = 0; row < source.rowCount(); ++row)
        if (matches(source, row))
            rows.push_back(static_cast<std::uint32_t>(row));
    return rows;
}

QString RowFilter::explanation() const
{
    QStringList any;
    for (const All &all : m_any) {
        QStringList parts;
        for (const Term &term : all)
            parts.append(term.negated ? words("not (%1)").arg(term.words) : term.words);
        any.append(parts.join(QStringLiteral(", ")));
    }
    return any.join(words(" or "));
}

} // namespace views
