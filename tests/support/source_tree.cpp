// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/source_tree.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>

#include <algorithm>
#include <vector>

namespace support {
namespace {

// Copies TEXT to OUT with everything but line breaks blanked, from BEGIN to END.
void blank(QString &out, qsizetype begin, qsizetype end)
{
    for (qsizetype i = begin; i < end && i < out.size(); ++i)
        if (out[i] != '\n')
            out[i] = ' ';
}

qsizetype endOfLiteral(const QString &text, qsizetype begin)
{
    const QChar quote = text[begin];
    qsizetype at = begin + 1;
    while (at < text.size() && text[at] != quote && text[at] != '\n')
        at += text[at] == '\\' ? 2 : 1;
    return at + 1;
}

qsizetype endOfRawString(const QString &text, qsizetype quote)
{
    const qsizetype open = text.indexOf('(', quote);
    const QString end = ")" + text.mid(quote + 1, open - quote - 1) + "\"";
    const qsizetype found = text.indexOf(end, open);
    return found < 0 ? text.size() : found + end.size();
}

qsizetype endOfDirective(const QString &text, qsizetype begin)
{
    qsizetype at = text.indexOf('\n', begin);
    while (at > 0 && text[at - 1] == '\\')
        at = text.indexOf('\n', at + 1);
    return at < 0 ? text.size() : at;
}

bool startsDirective(const QString &text, qsizetype at)
{
    while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
        --at;
    return at == 0 || text[at - 1] == '\n';
}

enum class Scope { namespaceScope, type, function, other };

Scope scopeOf(QString head, Scope outer)
{
    static const QRegularExpression templates("template\\s*<[^()]*?>(?=\\s*(class|struct|[\\w:~]))");
    static const QRegularExpression types("^\\s*(typedef\\s+)?(class|struct|union|enum)\\b");
    if (outer == Scope::function || outer == Scope::other)
        return Scope::other;
    head.remove(templates);
    if (head.contains(QRegularExpression("\\bnamespace\\b")) || head.trimmed() == "extern")
        return Scope::namespaceScope;
    if (head.contains(types))
        return Scope::type;
    const qsizetype parenthesis = head.indexOf('(');
    const qsizetype equals = head.indexOf(QRegularExpression("[^=!<>]=[^=]"));
    if (parenthesis >= 0 && (equals < 0 || equals > parenthesis || head.contains("operator")))
        return Scope::function;
    return Scope::other;
}

// The parameter list of a function's head: the parenthesis after its name.
QString parameterList(QString head)
{
    head.replace(QRegularExpression("operator\\s*\\(\\s*\\)"), "operatorCall");
    const qsizetype open = head.indexOf('(');
    int depth = 0;
    for (qsizetype i = open; i >= 0 && i < head.size(); ++i) {
        depth += head[i] == '(' ? 1 : head[i] == ')' ? -1 : 0;
        if (depth == 0)
            return head.mid(open + 1, i - open - 1);
    }
    return {};
}

int countParameters(const QString &head)
{
    const QString list = parameterList(head).simplified();
    if (list.isEmpty() || list == "void")
        return 0;
    int depth = 0;
    int count = 1;
    for (const QChar c : list) {
        if (QString("(<[{").contains(c))
            ++depth;
        else if (QString(")>]}").contains(c))
            --depth;
        else if (c == ',' && depth == 0)
            ++count;
    }
    return count;
}

QString functionName(QString head)
{
    head.replace(QRegularExpression("operator\\s*\\(\\s*\\)"), "operatorCall");
    static const QRegularExpression name("([~\\w]+)\\s*\\(");
    return name.match(head).captured(1);
}

struct OpenScope
{
    Scope scope;
    qsizetype headBegin;
    qsizetype bodyBegin;
    QString head;
};

} // namespace

QStringList SourceFile::includes() const
{
    static const QRegularExpression include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]",
                                            QRegularExpression::MultilineOption);
    QStringList out;
    for (auto it = include.globalMatch(text); it.hasNext();)
        out.append(it.next().captured(1));
    return out;
}

QList<SourceFile> sourceFiles(const QString &root, const QStringList &folders, const QStringList &suffixes)
{
    QList<SourceFile> out;
    for (const QString &folder : folders) {
        QDirIterator it(root + "/" + folder, QDir::Files, QDirIterator::Subdirectories);
        while (it.hasNext()) {
            const QString path = it.next();
            const auto fits = [&path](const QString &suffix) { return path.endsWith(suffix); };
            QFile file(path);
            if (!std::any_of(suffixes.begin(), suffixes.end(), fits) || !file.open(QIODevice::ReadOnly))
                continue;
            SourceFile source;
            source.path = QDir(root).relativeFilePath(path);
            source.text = QString::fromUtf8(file.readAll());
            if (path.endsWith(".cpp") || path.endsWith(".h"))
                source.code = withoutCommentsAndStrings(source.text);
            out.append(source);
        }
    }
    std::sort(out.begin(), out.end(), [](const auto &a, const auto &b) { return a.path < b.path; });
    return out;
}

QString withoutCommentsAndStrings(const QString &text)
{
    QString out = text;
    for (qsizetype at = 0; at < text.size();) {
        qsizetype end = at + 1;
        bool hide = true;
        if (text.mid(at, 2) == "//")
            end = std::max(text.indexOf('\n', at), at + 2);
        else if (text.mid(at, 2) == "/*")
            end = text.indexOf("*/", at) < 0 ? text.size() : text.indexOf("*/", at) + 2;
        else if (text[at] == '"' && at > 0 && text[at - 1] == 'R')
            end = endOfRawString(text, at);
        else if (text[at] == '"' || (text[at] == '\'' && (at == 0 || !text[at - 1].isLetterOrNumber())))
            end = endOfLiteral(text, at);
        else if (text[at] == '#' && startsDirective(text, at))
            end = endOfDirective(text, at);
        else
            hide = false;
        if (hide)
            blank(out, at, end);
        at = end;
    }
    return out;
}

QList<FunctionDefinition> functionDefinitions(const SourceFile &file)
{
    QList<FunctionDefinition> out;
    std::vector<OpenScope> open;
    qsizetype headBegin = 0;
    const QString &code = file.code;
    for (qsizetype at = 0; at < code.size(); ++at) {
        const QChar c = code[at];
        const Scope outer = open.empty() ? Scope::namespaceScope : open.back().scope;
        if (c == '{') {
            const QString head = code.mid(headBegin, at - headBegin);
            open.push_back({scopeOf(head, outer), headBegin, at, head});
            headBegin = at + 1;
        } else if (c == '}' && !open.empty()) {
            const OpenScope scope = open.back();
            open.pop_back();
            if (scope.scope == Scope::function) {
                const qsizetype blanks =
                    scope.head.size() - QString(scope.head).remove(QRegularExpression("^\\s+")).size();
                const int first = static_cast<int>(code.left(scope.headBegin + blanks).count('\n')) + 1;
                const int last = static_cast<int>(code.left(at).count('\n')) + 1;
                out.append({functionName(scope.head), code.mid(scope.bodyBegin, at - scope.bodyBegin + 1),
                            first, last - first + 1, countParameters(scope.head)});
            }
            headBegin = at + 1;
        } else if (c == ';' ||
                   (c == ':' && QRegularExpression("(public|private|protected|Q_SIGNALS|Q_SLOTS)\\s*$")
                                    .match(code.mid(headBegin, at - headBegin))
                                    .hasMatch())) {
            if (outer != Scope::function)
                headBegin = at + 1;
        }
    }
    return out;
}

} // namespace support
