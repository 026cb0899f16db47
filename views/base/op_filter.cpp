// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/op_filter.h"

#include "views/base/filter_terms.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <cctype>

namespace views {

namespace {

using NodePtr = std::shared_ptr<const OpFilter::Node>;

constexpr int kDeepest = 32;

QString words(const char *text)
{
    return QCoreApplication::translate("views::OpFilter", text);
}

bool sameLetter(char a, char b)
{
    return a == b ||
           std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

NodePtr combine(OpFilter::Node::Kind kind, std::vector<NodePtr> children)
{
    if (children.size() == 1 && kind != OpFilter::Node::Kind::negation)
        return children.front();
    auto node = std::make_shared<OpFilter::Node>();
    node->kind = kind;
    node->children = std::move(children);
    return node;
}

// any := all ('|' all)*, all := one+, one := '-' one | '(' any ')' | word.
class Parser
{
public:
    explicit Parser(std::vector<FilterToken> tokens) : m_tokens(std::move(tokens)) {}

    NodePtr run()
    {
        NodePtr node = any(0);
        if (node && !atEnd())
            fail(peek(), words("this bracket was never opened"));
        return m_problem ? nullptr : node;
    }
    const std::optional<OpFilter::Problem> &problem() const { return m_problem; }

private:
    bool atEnd() const { return m_at >= m_tokens.size(); }
    const FilterToken &peek() const { return m_tokens[m_at]; }
    void fail(const FilterToken &token, const QString &message)
    {
        if (!m_problem)
            m_problem = OpFilter::Problem{token.position, token.length, message};
    }
    NodePtr any(int depth)
    {
        std::vector<NodePtr> parts;
        do {
            if (!parts.empty())
                ++m_at;
            NodePtr part = all(depth);
            if (!part)
                return nullptr;
            parts.push_back(std::move(part));
        } while (!atEnd() && peek().kind == FilterToken::Kind::either);
        return combine(OpFilter::Node::Kind::any, std::move(parts));
    }
    NodePtr all(int depth)
    {
        std::vector<NodePtr> parts;
        while (!atEnd() && peek().kind != FilterToken::Kind::either &&
               peek().kind != FilterToken::Kind::close) {
            NodePtr part = one(depth);
            if (!part)
                return nullptr;
            parts.push_back(std::move(part));
        }
        if (parts.empty()) {
            fail(m_at < m_tokens.size() ? peek() : m_tokens.back(), words("a condition is missing here"));
            return nullptr;
        }
        return combine(OpFilter::Node::Kind::all, std::move(parts));
    }
    NodePtr one(int depth)
    {
        const FilterToken token = peek();
        if (depth > kDeepest) {
            fail(token, words("more than %1 brackets inside each other").arg(kDeepest));
            return nullptr;
        }
        ++m_at;
        if (token.kind == FilterToken::Kind::negation) {
            if (atEnd()) {
                fail(token, words("“-” needs a condition after it"));
                return nullptr;
            }
            NodePtr inner = one(depth + 1);
            return inner ? combine(OpFilter::Node::Kind::negation, {inner}) : nullptr;
        }
        if (token.kind == FilterToken::Kind::open)
            return bracket(token, depth);
        FilterTerm term = makeFilterTerm(token);
        if (!term.node)
            fail(token, term.problem);
        return term.node;
    }
    NodePtr bracket(const FilterToken &open, int depth)
    {
        NodePtr inner = any(depth + 1);
        if (!inner)
            return nullptr;
        if (atEnd()) {
            fail(open, words("this bracket is never closed"));
            return nullptr;
        }
        ++m_at;
        return inner;
    }

    std::vector<FilterToken> m_tokens;
    std::size_t m_at = 0;
    std::optional<OpFilter::Problem> m_problem;
};

} // namespace

bool matchesGlob(std::string_view pattern, std::string_view text)
{
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && sameLetter(pattern[p], text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*')
        ++p;
    return p == pattern.size();
}

bool OpFilter::Node::matches(const FilterSubject &subject, core::OpId op) const
{
    const auto inner = [&](const std::shared_ptr<const Node> &child) { return child->matches(subject, op); };
    switch (kind) {
    case Kind::test:
        return test(subject, op);
    case Kind::all:
        return std::all_of(children.begin(), children.end(), inner);
    case Kind::any:
        return std::any_of(children.begin(), children.end(), inner);
    case Kind::negation:
        return !inner(children.front());
    }
    return false;
}

QString OpFilter::Node::explanation() const
{
    if (kind == Kind::test)
        return description;
    if (kind == Kind::negation)
        return words("not (%1)").arg(children.front()->explanation());
    QStringList parts;
    for (const auto &child : children)
        parts.push_back(child->kind == Kind::any ? QStringLiteral("(%1)").arg(child->explanation())
                                                 : child->explanation());
    return parts.join(kind == Kind::all ? QStringLiteral(", ") : words(" or "));
}

OpFilter::Parsed OpFilter::parse(const QString &text)
{
    FilterTokens tokens = tokenizeFilter(text);
    if (tokens.brokenAt >= 0)
        return {OpFilter(), Problem{tokens.brokenAt, static_cast<int>(text.size()) - tokens.brokenAt,
                                    words("the mark that starts here has no partner")}};
    if (tokens.tokens.empty())
        return {OpFilter(), std::nullopt};
    Parser parser(std::move(tokens.tokens));
    NodePtr node = parser.run();
    return {OpFilter(node), parser.problem()};
}

bool OpFilter::matches(const FilterSubject &subject, core::OpId op) const
{
    return !m_node || m_node->matches(subject, op);
}

std::vector<std::uint32_t> OpFilter::matching(const FilterSubject &subject,
                                              std::span<const core::OpId> ops) const
{
    std::vector<std::uint32_t> result;
    for (std::size_t i = 0; i < ops.size(); ++i)
        if (matches(subject, ops[i]))
            result.push_back(static_cast<std::uint32_t>(i));
    return result;
}

QString OpFilter::explanation() const
{
    return m_node ? words("Ops %1.").arg(m_node->explanation()) : QString();
}

} // namespace views
