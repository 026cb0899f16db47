// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/palette/search_index.h"

#include "views/base/formatting.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace app {

namespace {

std::string lower(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
        return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    return text;
}

struct Query
{
    std::vector<std::string> words;
    std::optional<HitKind> only;
    std::string number; // "#345"

    static Query parse(const QString &text)
    {
        Query query;
        QString rest = text.trimmed();
        const QChar first = rest.isEmpty() ? QChar() : rest.front();
        if (first == QLatin1Char('@'))
            query.only = HitKind::module;
        else if (first == QLatin1Char(':'))
            query.only = HitKind::line;
        else if (first == QLatin1Char('!'))
            query.only = HitKind::finding;
        else if (first == QLatin1Char('#') || first == QLatin1Char('['))
            query.only = HitKind::op;
        if (first == QLatin1Char('#'))
            query.number = rest.mid(1).trimmed().toStdString();
        else if (first == QLatin1Char('['))
            query.words.push_back(
                rest.remove(QLatin1Char(' ')).remove(QLatin1Char(']')).toLower().toStdString());
        if (first == QLatin1Char('#') || first == QLatin1Char('['))
            return query;
        if (query.only)
            rest = rest.mid(1);
        for (const QString &word : rest.split(QLatin1Char(' '), Qt::SkipEmptyParts))
            query.words.push_back(word.toLower().toStdString());
        return query;
    }
    bool isEmpty() const { return words.empty() && number.empty() && !only; }
};

// Names before details, starts before middles, short before long.
int scoreOf(std::string_view name, std::string_view whole, const std::vector<std::string> &words)
{
    int score = 0;
    for (const std::string &word : words) {
        const std::size_t inName = name.find(word);
        if (inName == 0)
            score += 0;
        else if (inName != std::string_view::npos)
            score += 100;
        else if (whole.find(word) != std::string_view::npos)
            score += 300;
        else
            return -1;
    }
    return score + static_cast<int>(std::min<std::size_t>(name.size(), 99));
}

std::string compactShape(std::span<const std::int64_t> shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ",") + std::to_string(shape[i]);
    return text + "]";
}

} // namespace

SearchIndex::SearchIndex(std::shared_ptr<const core::Trace> trace,
                         std::shared_ptr<const views::TraceFacts> facts)
    : m_trace(std::move(trace)), m_facts(std::move(facts))
{
    if (m_facts)
        for (std::size_t i = 0; i < m_facts->findings.size(); ++i) {
            const views::FindingRow &row = m_facts->findings[i];
            const std::string label = row.op.isValid() ? std::string(m_trace->label(row.op)) : std::string();
            add(HitKind::finding, i, row.text.toStdString(), label + " " + row.check.toStdString());
        }
    for (std::size_t i = 0; i < m_trace->modules().size(); ++i) {
        const core::ModuleRow &row = m_trace->modules()[i];
        add(HitKind::module, i, views::moduleText(*m_trace, core::ModuleId(i)).toStdString(),
            std::string(m_trace->string(row.className)));
    }
    addOps();
    for (std::size_t i = 0; i < m_trace->params().size(); ++i)
        add(HitKind::parameter, i, std::string(m_trace->string(m_trace->params()[i].address)),
            m_trace->params()[i].isBuffer ? "buffer" : "parameter");
    addLines();
}

void SearchIndex::add(HitKind kind, std::size_t index, std::string name, const std::string &more)
{
    name = lower(std::move(name));
    Entry entry{kind, static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(m_text.size()),
                static_cast<std::uint32_t>(name.size()), 0};
    m_text += name;
    m_text += ' ';
    m_text += lower(more);
    entry.length = static_cast<std::uint32_t>(m_text.size() - entry.begin);
    m_text += '\n';
    m_entries.push_back(entry);
}

std::string SearchIndex::opDetails(core::OpId op) const
{
    std::string text(m_trace->string(m_trace->callOf(op).op));
    text += ' ';
    text += m_trace->moduleAddress(op);
    const core::FrameId frame = m_trace->sourceFrame(m_trace->callOf(op).stack);
    if (frame.isValid()) {
        const std::string_view path = m_trace->string(m_trace->frame(frame).file);
        text += ' ';
        text += path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
        text += ':' + std::to_string(m_trace->frame(frame).line.oneBased());
    }
    const core::TensorId tensor = m_trace->op(op).tensor;
    if (!tensor.isValid())
        return text;
    const core::TensorRow &row = m_trace->tensor(tensor);
    text += ' ' + compactShape(m_trace->shape(tensor)) + ' ';
    text += core::dtypeName(row.dtype);
    text += ' ' + views::dtypeText(row.dtype).toStdString();
    if (const core::TensorStats *stats = m_trace->stats(tensor)) {
        text += stats->nan > 0 ? " nan" : "";
        text += stats->posInf + stats->negInf > 0 ? " inf" : "";
    }
    return text;
}

void SearchIndex::addOps()
{
    for (const core::OpId op : m_trace->orderedOps())
        add(HitKind::op, op.index(), std::string(m_trace->label(op)), opDetails(op));
}

// Each line of the user's files that an op came from, once.
void SearchIndex::addLines()
{
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (const core::OpId op : m_trace->computeOps()) {
        const core::FrameId id = m_trace->sourceFrame(m_trace->callOf(op).stack);
        if (!id.isValid())
            continue;
        const core::FrameRow &frame = m_trace->frame(id);
        if (!seen.insert({frame.file.value(), frame.line.oneBased()}).second)
            continue;
        const std::string place = views::fileNameText(m_trace->string(frame.file)).toStdString() + ":" +
                                  std::to_string(frame.line.oneBased());
        add(HitKind::line, id.index(), place, std::string(m_trace->string(frame.text)));
    }
}

std::vector<SearchHit> SearchIndex::find(const QString &text) const
{
    const Query query = Query::parse(text);
    std::vector<SearchHit> hits;
    if (query.isEmpty())
        return hits;
    for (const Entry &entry : m_entries) {
        if (query.only && *query.only != entry.kind)
            continue;
        const std::string_view whole = std::string_view(m_text).substr(entry.begin, entry.length);
        int score = scoreOf(whole.substr(0, entry.nameLength), whole, query.words);
        if (score < 0)
            continue;
        if (!query.number.empty()) {
            const std::string step = std::to_string(m_trace->op(core::OpId(entry.index)).step);
            if (step.rfind(query.number, 0) != 0)
                continue;
            score += static_cast<int>(step.size() - query.number.size()) * 10;
        }
        hits.push_back({entry.kind, entry.index, score});
    }
    // Equal scores stay in execution order.
    const auto better = [](const SearchHit &a, const SearchHit &b) {
        return std::tie(a.score, a.kind, a.index) < std::tie(b.score, b.kind, b.index);
    };
    const std::size_t kept = std::min(hits.size(), kMostHits);
    std::partial_sort(hits.begin(), hits.begin() + static_cast<std::ptrdiff_t>(kept), hits.end(), better);
    hits.resize(kept);
    return hits;
}

views::SelectedItem SearchIndex::itemOf(const SearchHit &hit) const
{
    switch (hit.kind) {
    case HitKind::op:
        return views::OpItem{core::OpId(hit.index)};
    case HitKind::module:
        return views::ModuleItem{core::ModuleId(hit.index)};
    case HitKind::parameter:
        return views::ParamItem{core::ParamId(hit.index)};
    case HitKind::line: {
        const core::FrameRow &frame = m_trace->frame(core::FrameId(hit.index));
        return views::LineItem{frame.file, frame.line};
    }
    case HitKind::finding: {
        const core::OpId op = m_facts->findings[hit.index].op;
        return op.isValid() ? views::SelectedItem(views::OpItem{op}) : views::SelectedItem();
    }
    case HitKind::command:
        break;
    }
    return {};
}

QString SearchIndex::nameOf(const SearchHit &hit) const
{
    switch (hit.kind) {
    case HitKind::op:
        return views::fromView(m_trace->publicLabel(core::OpId(hit.index)));
    case HitKind::module:
        return views::moduleText(*m_trace, core::ModuleId(hit.index));
    case HitKind::parameter:
        return views::fromView(m_trace->string(m_trace->params()[hit.index].address));
    case HitKind::line: {
        const core::FrameRow &frame = m_trace->frame(core::FrameId(hit.index));
        return QStringLiteral("%1:%2")
            .arg(views::fileNameText(m_trace->string(frame.file)))
            .arg(frame.line.oneBased());
    }
    case HitKind::finding:
        return m_facts->findings[hit.index].text;
    case HitKind::command:
        break;
    }
    return {};
}

QString SearchIndex::placeOf(const SearchHit &hit) const
{
    switch (hit.kind) {
    case HitKind::op: {
        const core::OpId op(hit.index);
        QStringList parts = {views::fromView(m_trace->moduleAddress(op)),
                             views::tensorText(*m_trace, m_trace->op(op).tensor),
                             views::lineText(*m_trace, op)};
        parts.removeAll(QString());
        return parts.join(QStringLiteral(" · "));
    }
    case HitKind::module:
        return views::fromView(m_trace->string(m_trace->module(core::ModuleId(hit.index)).className));
    case HitKind::line:
        return views::fromView(m_trace->string(m_trace->frame(core::FrameId(hit.index)).text));
    case HitKind::finding: {
        const core::OpId op = m_facts->findings[hit.index].op;
        return op.isValid() ? views::fromView(m_trace->publicLabel(op)) : QString();
    }
    case HitKind::parameter:
        return m_trace->params()[hit.index].isBuffer
                   ? QCoreApplication::translate("app::SearchIndex", "buffer")
                   : QCoreApplication::translate("app::SearchIndex", "parameter");
    case HitKind::command:
        break;
    }
    return {};
}

bool matchesWords(const QString &query, const QString &text)
{
    for (const QString &word : query.split(QLatin1Char(' '), Qt::SkipEmptyParts))
        if (!text.contains(word, Qt::CaseInsensitive))
            return false;
    return true;
}

} // namespace app
