// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include <functional>

class QLabel;
class QPushButton;

namespace views {
class Theme;
}

namespace app {

// A line over the docks that says something about the open document or the last wish: a run that stopped, a
// file that could not be opened. Owned by the main window.
class Banner : public QFrame
{
    Q_OBJECT

public:
    explicit Banner(const views::Theme &theme, QWidget *parent = nullptr);

    // ACTION may be empty.
    void showMessage(const QString &title, const QString &body, const QString &action = {},
                     std::function<void()> run = {});
    void dismiss();

private:
    QLabel *m_title;
    QLabel *m_body;
    QPushButton *m_action;
    std::function<void()> m_run;
};

} // namespace app
