// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

#include <array>
#include <functional>
#include <vector>

class QLabel;
class QPushButton;

namespace views {
class Theme;
}

namespace app {

// A way on from what a banner says.
struct BannerAction
{
    QString text;
    std::function<void()> run;
};

// A line over the docks that says something about the open document or the last wish: a run that stopped, a
// file that could not be opened. Owned by the main window.
class Banner : public QFrame
{
    Q_OBJECT

public:
    explicit Banner(const views::Theme &theme, QWidget *parent = nullptr);

    // At most two ACTIONS are shown, the first one last.
    void showMessage(const QString &title, const QString &body,
                     const std::vector<BannerAction> &actions = {});
    void dismiss();

private:
    QLabel *m_title;
    QLabel *m_body;
    std::array<QPushButton *, 2> m_buttons;
    std::array<std::function<void()>, 2> m_runs;
};

} // namespace app
