// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/icon.h"
#include "views/base/theme.h"

#include <QWidget>

#include <functional>
#include <vector>

class QLabel;
class QVBoxLayout;

namespace views {

// A column of facts as the details and audit panes show them: captions, rows of name and value, rows that can
// be clicked. Rebuilt as a whole for each item. Owned by its pane.
class FactList : public QWidget
{
    Q_OBJECT

public:
    struct Entry
    {
        IconName icon = IconName::dot;
        core::ColorToken iconTone = core::ColorToken::second;
        QString name;
        QString detail; // under the name, muted
        QString value;  // at the right
        const char *valueTone = "";
        std::function<void()> activate; // none: the row is no link
        bool isCurrent = false;
    };

    explicit FactList(const Theme &theme, QWidget *parent = nullptr);

    void clear();
    void addSection(const QString &title, const QString &note = {});
    // A value that can be clicked has ACTIVATE.
    void addFact(const QString &name, const QString &value, const char *tone = "",
                 std::function<void()> activate = {});
    void addEntry(const Entry &entry);
    // A share of a whole as a bar.
    void addBar(const QString &name, std::size_t part, std::size_t whole);
    void addText(const QString &text);
    void addWidget(QWidget *widget);
    void finish(); // the rest stays empty below

private:
    const Theme &m_theme;
    QVBoxLayout *m_column;
    QWidget *m_content = nullptr;
    std::vector<QLabel *> m_barNumbers;
};

} // namespace views
