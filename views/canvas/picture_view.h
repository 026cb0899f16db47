// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/graph/graph_draw.h"
#include "core/graph/picture_walk.h"
#include "views/canvas/canvas.h"
#include "views/canvas/canvas_bars.h"

#include <QWidget>

#include <optional>
#include <vector>

class QLabel;

namespace views {

// A picture of boxes and arrows in a pane: asks for its layout, shows it on a canvas with zoom bar and
// notices, follows edges by the arrow keys. It knows no trace: boxes are told by their number. Where there is
// nothing to draw it says so in words. The former picture stays until the new one is placed. Owned by its
// pane; GUI thread.
class PictureView : public QWidget
{
    Q_OBJECT

public:
    static constexpr std::uint32_t kNoBox = 0xffffffffU;

    // NAME is what the canvas is called for a screen reader.
    PictureView(const Theme &theme, const QString &name, QWidget *parent = nullptr);

    // FIRST is the box that has to be seen when the picture appears.
    void setPicture(core::GraphPicture picture, std::uint32_t first = kNoBox);
    // Words instead of a picture.
    void setWords(const QString &title, const QString &body);
    // The answer to layoutRequested; an older one is ignored.
    void setLayout(const core::LayoutResult &layout);
    // The request with this ID is not answered; what is shown stays.
    void setLayoutFailed(std::uint64_t id, const QString &reason);
    void setSelected(std::vector<std::uint32_t> boxes);
    // A line above the picture with one way on; empty takes it away.
    void setNotice(const QString &text, const QString &action = {});
    // A few words beside the zoom bar.
    void setHint(const QString &hint);

    bool hasPicture() const { return m_hasPicture; }
    const core::GraphPicture &picture() const { return m_picture; }
    core::Rect boxRect(std::uint32_t box) const;
    Canvas &canvas() const { return *m_canvas; }
    std::uint32_t current() const { return m_current; }
    QString noticeText() const { return m_notice->isHidden() ? QString() : m_notice->text(); }
    QString titleText() const;
    QString bodyText() const;
    // The whole picture at 100 %.
    core::DrawList drawing() const;
    void showBox(std::uint32_t box, bool centred);

public Q_SLOTS:
    void fitPicture();

Q_SIGNALS:
    void layoutRequested(const core::LayoutRequest &request);
    void layoutCancelled();
    // The picture asked for last is placed and on screen.
    void pictureShown();
    // There are words instead of a picture.
    void wordsShown();
    void boxPicked(std::uint32_t box);
    void boxActivated(std::uint32_t box);
    void boxHovered(std::uint32_t box); // kNoBox: none
    void menuWanted(std::uint32_t box, QPoint globalPosition);
    void noticeActed();

protected:
    void resizeEvent(QResizeEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    void build();
    void connectCanvas();
    void requestLayout();
    void placeOverlays();
    void moveTo(core::PictureDirection direction);
    void zoomToSelection();
    QString toolTipOf(core::HitId hit) const;

    const Theme &m_theme;
    Canvas *m_canvas;
    ZoomBar *m_zoomBar = nullptr;
    NoticeBar *m_notice = nullptr;
    LayoutNotice *m_layoutNotice = nullptr;
    QLabel *m_hint = nullptr;
    QLabel *m_title = nullptr;
    QLabel *m_body = nullptr;
    QWidget *m_words = nullptr;

    core::GraphPicture m_picture;
    core::LayoutResult m_layout;
    core::GraphLook m_look;
    core::GraphPicture m_next;
    std::optional<core::LayoutRequest> m_pending;
    std::uint32_t m_first = kNoBox;
    std::uint32_t m_current = kNoBox;
    std::uint64_t m_lastId = 0;
    bool m_hasPicture = false;
};

} // namespace views
