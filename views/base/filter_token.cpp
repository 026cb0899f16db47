// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/filter_token.h"

namespace views {

namespace {

class Tokenizer
{
public:
    explicit Tokenizer(const QString &text) : m_text(text) {}

    FilterTokens run()
    {
        while (m_at < m_text.size() && m_result.brokenAt < 0) {
            const QChar c = m_text[m_at];
            if (c.isSpace())
                ++m_at;
            else if (c == QLatin1Char('"'))
                delimited(FilterToken::Kind::text, QLatin1Char('"'));
            else if (c == QLatin1Char('/'))
                delimited(FilterToken::Kind::regex, QLatin1Char('/'));
            else if (!single(c))
                word();
        }
        return std::move(m_result);
    }

private:
    bool single(QChar c)
    {
        if (c == QLatin1Char('|'))
            add(FilterToken::Kind::either, 1);
        else if (c == QLatin1Char('('))
            add(FilterToken::Kind::open, 1);
        else if (c == QLatin1Char(')'))
            add(FilterToken::Kind::close, 1);
        else if (c == QLatin1Char('-'))
            add(FilterToken::Kind::negation, 1);
        else
            return false;
        return true;
    }
    void add(FilterToken::Kind kind, qsizetype length)
    {
        m_result.tokens.push_back(
            {kind, m_text.mid(m_at, length), static_cast<int>(m_at), static_cast<int>(length)});
        m_at += length;
    }
    void delimited(FilterToken::Kind kind, QChar mark)
    {
        const qsizetype end = m_text.indexOf(mark, m_at + 1);
        if (end < 0) {
            m_result.brokenAt = static_cast<int>(m_at);
            return;
        }
        m_result.tokens.push_back({kind, m_text.mid(m_at + 1, end - m_at - 1), static_cast<int>(m_at),
                                   static_cast<int>(end + 1 - m_at)});
        m_at = end + 1;
    }
    // Square brackets hold blanks together: shape:[4, *].
    void word()
    {
        qsizetype end = m_at;
        int depth = 0;
        for (; end < m_text.size(); ++end) {
            const QChar c = m_text[end];
            depth += c == QLatin1Char('[') ? 1 : c == QLatin1Char(']') ? -1 : 0;
            if (depth <= 0 &&
                (c.isSpace() || c == QLatin1Char('|') || c == QLatin1Char('(') || c == QLatin1Char(')')))
                break;
        }
        add(FilterToken::Kind::word, end - m_at);
    }

    const QString &m_text;
    qsizetype m_at = 0;
    FilterTokens m_result;
};

} // namespace

FilterTokens tokenizeFilter(const QString &text)
{
    return Tokenizer(text).run();
}

} // namespace views
