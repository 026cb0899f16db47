// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QList>
#include <QString>
#include <QStringList>

namespace support {

// One text file of the source tree as the architecture tests see it.
struct SourceFile
{
    QString path; // relative to the source tree, with slashes
    QString text; // as it is
    QString code; // comments, strings and preprocessor lines blanked out, line breaks kept (C++ only)

    QString folder() const { return path.section('/', 0, -2); }
    bool isHeader() const { return path.endsWith(".h"); }
    int lineCount() const { return static_cast<int>(text.count('\n')); }
    QStringList includes() const; // what stands between the quotes or angle brackets, in order
};

// A function definition found by counting braces: good enough for this project's formatted sources.
struct FunctionDefinition
{
    QString name;
    QString body;
    int firstLine = 0; // 1-based, of its head
    int lineCount = 0; // head to closing brace
    int parameterCount = 0;
};

// Files below FOLDERS of the tree ROOT whose names end in one of SUFFIXES, sorted by path.
QList<SourceFile> sourceFiles(const QString &root, const QStringList &folders, const QStringList &suffixes);

QString withoutCommentsAndStrings(const QString &text);
QList<FunctionDefinition> functionDefinitions(const SourceFile &file);

} // namespace support
