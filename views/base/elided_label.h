// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>

namespace views {

// A one-line label that may be narrower than its text: what does not fit is cut with an ellipsis and told in
// the tooltip, so nothing is clipped in silence.
class ElidedLabel : public QLabel
{
    Q_OBJECT

public:
    explicit ElidedLabel(const QString &text = {}, QWidget *parent = nullptr);

    void setElideMode(Qt::TextElideMode mode) { m_mode = mode; }
    bool isElided() const;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool event(QEvent *event) override;

private:
    Qt::TextElideMode m_mode = Qt::ElideRight;
};

// For names of files and paths, whose ends say most. LABEL was made by makeElidedLabel().
inline void elideInTheMiddle(QLabel *label)
{
    if (auto *elided = qobject_cast<ElidedLabel *>(label))
        elided->setElideMode(Qt::ElideMiddle);
}

} // namespace views
