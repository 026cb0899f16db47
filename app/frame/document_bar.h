// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QStringList>
#include <QTabBar>
#include <QWidget>

class QHBoxLayout;
class QToolButton;

namespace views {
class Theme;
}

namespace app {

// The row of open documents with a breadcrumb of where the selection stands. Owned by the main window.
class DocumentBar : public QWidget
{
    Q_OBJECT

public:
    explicit DocumentBar(const views::Theme &theme, QWidget *parent = nullptr);

    // TOOLTIPS are the full paths. CURRENT is the shown one.
    void setDocuments(const QStringList &titles, const QStringList &tooltips, int current);
    // Outermost first; the last part is the current one. Parts are clickable but the last.
    void setBreadcrumb(const QStringList &parts);

Q_SIGNALS:
    void documentRequested(int index);
    void closeRequested(int index);
    void openRequested();
    // The user clicked part INDEX of the breadcrumb.
    void breadcrumbRequested(int index);

protected:
    void resizeEvent(QResizeEvent *event) override;

private:
    void fitBreadcrumb();
    void buildBreadcrumb(int from);

    const views::Theme &m_theme;
    QTabBar *m_tabs;
    QToolButton *m_open;
    QWidget *m_crumbs;
    QHBoxLayout *m_crumbLayout;
    QStringList m_parts; // of the breadcrumb
    int m_shownFrom = -1;
};

} // namespace app
