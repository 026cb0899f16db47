// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QToolButton>

namespace views {
class Theme;
}

// The buttons of the command bar that paint themselves. GUI thread; colours are asked for at each painting.
namespace app {

// A perspective with an optional count of findings in a badge.
class PerspectiveButton : public QToolButton
{
    Q_OBJECT

public:
    PerspectiveButton(const views::Theme &theme, const QString &title, QWidget *parent);

    void setBadge(int count);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override { return sizeHint(); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    int badgeWidth() const;

    const views::Theme &m_theme;
    QString m_title;
    int m_badge = 0;
};

// Looks like a search field and opens the palette.
class PaletteField : public QAbstractButton
{
    Q_OBJECT

public:
    PaletteField(const views::Theme &theme, QWidget *parent);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    void leaveEvent(QEvent *event) override;

private:
    const views::Theme &m_theme;
};

// A dot and a word: idle, or what is being done.
class JobLight : public QAbstractButton
{
    Q_OBJECT

public:
    JobLight(const views::Theme &theme, QWidget *parent);

    void setState(const QString &text, bool busy);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    const views::Theme &m_theme;
    bool m_busy = false;
};

} // namespace app
