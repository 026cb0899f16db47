// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas/picture_view.h"

#include "core/graph/graph_layout.h"
#include "views/base/widgets.h"
#include "views/canvas/box_words.h"

#include <QKeyEvent>
#include <QLabel>
#include <QVBoxLayout>

namespace views {

namespace {

constexpr int kMargin = 12;

bool isBox(core::HitId hit)
{
    const auto kind = static_cast<core::GraphHit>(hit.kind);
    return kind == core::GraphHit::box || kind == core::GraphHit::boxUnfold;
}

} // namespace

PictureView::PictureView(const Theme &theme, const QString &name, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_canvas(new Canvas(theme, this))
{
    m_canvas->setAccessibleName(name);
    m_canvas->setBuilder([this](double zoom, const core::Rect &visible) {
        if (!m_hasPicture)
            return core::DrawList();
        core::GraphLook look = m_look;
        look.zoom = zoom;
        look.visible = visible;
        return core::drawGraph(m_picture, m_layout, look);
    });
    m_canvas->setToolTipText([this](core::HitId hit) { return toolTipOf(hit); });
    setFocusProxy(m_canvas);
    build();
    connectCanvas();
    setMinimumSize(120, 96);
}

void PictureView::build()
{
    m_zoomBar = new ZoomBar(m_theme, this);
    m_notice = new NoticeBar(this);
    m_layoutNotice = new LayoutNotice(this);
    m_hint = makeLabel(QString(), "dense", this);
    m_hint->setObjectName(QStringLiteral("overlay"));
    m_hint->setAttribute(Qt::WA_TransparentForMouseEvents);
    m_canvas->setCornerBar(m_zoomBar, m_hint);
    m_words = new QWidget(this);
    auto *column = new QVBoxLayout(m_words);
    column->setSpacing(6);
    column->addStretch(1);
    m_title = makeLabel(QString(), "heading", m_words);
    m_body = makeLabel(QString(), "second", m_words);
    for (QLabel *label : {m_title, m_body}) {
        label->setAlignment(Qt::AlignCenter);
        label->setWordWrap(true);
        column->addWidget(label);
    }
    column->addStretch(1);
    m_words->setAttribute(Qt::WA_TransparentForMouseEvents);
    connect(m_zoomBar, &ZoomBar::zoomWanted, m_canvas, &Canvas::zoomBy);
    connect(m_zoomBar, &ZoomBar::fitWanted, this, &PictureView::fitPicture);
    connect(m_zoomBar, &ZoomBar::actualSizeWanted, this,
            [this] { m_canvas->zoomBy(1.0 / m_canvas->viewport().zoom()); });
    connect(m_notice, &NoticeBar::actionWanted, this, &PictureView::noticeActed);
    connect(m_layoutNotice, &LayoutNotice::cancelWanted, this, &PictureView::layoutCancelled);
    connect(m_layoutNotice, &LayoutNotice::changed, this, &PictureView::placeOverlays);
    connect(m_layoutNotice, &LayoutNotice::retryWanted, this, [this] {
        if (m_next.boxes.empty()) // else the one that got no layout
            m_next = m_picture;
        requestLayout();
    });
}

void PictureView::connectCanvas()
{
    const auto boxOf = [](core::HitId hit) { return isBox(hit) ? hit.index : kNoBox; };
    connect(m_canvas, &Canvas::clicked, this, [this, boxOf](core::HitId hit) {
        m_canvas->setFocus(Qt::MouseFocusReason);
        if (boxOf(hit) != kNoBox)
            Q_EMIT boxPicked(boxOf(hit));
    });
    connect(m_canvas, &Canvas::doubleClicked, this, [this, boxOf](core::HitId hit) {
        if (boxOf(hit) != kNoBox)
            Q_EMIT boxActivated(boxOf(hit));
    });
    connect(m_canvas, &Canvas::hoverChanged, this, [this, boxOf](core::HitId hit) {
        m_look.hovered = hit;
        m_canvas->setCursor(isBox(hit) ? Qt::PointingHandCursor : Qt::ArrowCursor);
        m_canvas->invalidate();
        Q_EMIT boxHovered(boxOf(hit));
    });
    connect(m_canvas, &Canvas::menuWanted, this,
            [this, boxOf](core::HitId hit, QPoint at) { Q_EMIT menuWanted(boxOf(hit), at); });
    connect(m_canvas, &Canvas::viewChanged, this,
            [this] { m_zoomBar->setZoom(m_canvas->viewport().zoom()); });
}

void PictureView::setPicture(core::GraphPicture picture, std::uint32_t first)
{
    m_next = std::move(picture);
    m_first = first;
    requestLayout();
}

void PictureView::requestLayout()
{
    m_pending = core::graphLayoutRequest(m_next, ++m_lastId);
    m_layoutNotice->wait(m_pending->nodes.size());
    Q_EMIT layoutRequested(*m_pending);
}

void PictureView::setWords(const QString &title, const QString &body)
{
    m_pending.reset();
    m_hasPicture = false;
    m_picture = {};
    m_next = {};
    m_layout = {};
    m_current = kNoBox;
    m_look = {};
    m_title->setText(title);
    m_body->setText(body);
    m_layoutNotice->clear();
    m_canvas->setScene({}, {});
    setNotice({});
    setHint({});
    m_canvas->invalidate();
    placeOverlays();
    Q_EMIT wordsShown();
}

QString PictureView::titleText() const
{
    return m_words->isHidden() ? QString() : m_title->text();
}

QString PictureView::bodyText() const
{
    return m_words->isHidden() ? QString() : m_body->text();
}

void PictureView::setLayout(const core::LayoutResult &layout)
{
    if (!m_pending || layout.id != m_pending->id || !core::checkLayoutResult(*m_pending, layout))
        return;
    m_pending.reset();
    m_picture = std::move(m_next);
    m_next = {};
    m_layout = layout;
    m_look.hovered = {};
    m_hasPicture = true;
    m_layoutNotice->showResult(layout);
    m_canvas->setScene(m_layout.bounds(), core::placedRects(m_picture, m_layout));
    m_canvas->fit(false, Canvas::kFirstZoom);
    placeOverlays();
    m_canvas->invalidate();
    if (m_first < m_picture.boxes.size() && !m_canvas->viewport().visible().intersects(boxRect(m_first)))
        showBox(m_first, true);
    Q_EMIT pictureShown();
}

void PictureView::setLayoutFailed(std::uint64_t id, const QString &reason)
{
    if (!m_pending || m_pending->id != id)
        return;
    m_pending.reset();
    m_layoutNotice->showFailure(reason);
}

core::Rect PictureView::boxRect(std::uint32_t box) const
{
    return core::boxRect(m_picture, m_layout, box);
}

void PictureView::setSelected(std::vector<std::uint32_t> boxes)
{
    m_current = boxes.empty() ? kNoBox : boxes.front();
    m_look.selected = std::move(boxes);
    m_canvas->setAccessibleDescription(m_current < m_picture.boxes.size()
                                           ? boxWords(m_picture.boxes[m_current]).join(QStringLiteral(", "))
                                           : QString());
    m_canvas->invalidate();
}

void PictureView::showBox(std::uint32_t box, bool centred)
{
    if (!m_hasPicture || box >= m_picture.boxes.size())
        return;
    Viewport view = centred ? m_canvas->viewport() : m_canvas->viewShowing(boxRect(box));
    if (centred)
        view.centerOn(boxRect(box).center());
    if (!(view == m_canvas->viewport()))
        m_canvas->setViewport(view, true);
}

void PictureView::setNotice(const QString &text, const QString &action)
{
    if (text.isEmpty())
        m_notice->hide();
    else
        m_notice->showNotice(text, action);
    placeOverlays();
}

void PictureView::setHint(const QString &hint)
{
    m_hint->setText(hint);
    placeOverlays();
}

core::DrawList PictureView::drawing() const
{
    core::GraphLook look;
    return m_hasPicture ? core::drawGraph(m_picture, m_layout, look) : core::DrawList();
}

void PictureView::fitPicture()
{
    m_canvas->fit();
}

void PictureView::zoomToSelection()
{
    core::Rect area;
    for (const std::uint32_t box : m_look.selected)
        if (box < m_picture.boxes.size())
            area = area.united(boxRect(box));
    if (area.isEmpty())
        return;
    Viewport view = m_canvas->viewport();
    view.fit(area, 80.0);
    m_canvas->setViewport(view, true);
}

void PictureView::moveTo(core::PictureDirection direction)
{
    if (!m_hasPicture)
        return;
    const std::uint32_t next = core::neighbourBox(m_picture, m_layout, m_current, direction);
    if (next == kNoBox)
        return;
    showBox(next, false);
    Q_EMIT boxPicked(next);
}

void PictureView::keyPressEvent(QKeyEvent *event)
{
    if ((event->modifiers() & (Qt::ControlModifier | Qt::AltModifier | Qt::MetaModifier)) != 0) {
        QWidget::keyPressEvent(event);
        return;
    }
    switch (event->key()) {
    case Qt::Key_Up:
        return moveTo(core::PictureDirection::up);
    case Qt::Key_Down:
        return moveTo(core::PictureDirection::down);
    case Qt::Key_Left:
        return moveTo(core::PictureDirection::left);
    case Qt::Key_Right:
        return moveTo(core::PictureDirection::right);
    case Qt::Key_Return:
    case Qt::Key_Enter:
        if (m_hasPicture && m_current < m_picture.boxes.size())
            Q_EMIT boxActivated(m_current);
        return;
    case Qt::Key_F:
        return fitPicture();
    case Qt::Key_Z:
        return zoomToSelection();
    case Qt::Key_Plus:
    case Qt::Key_Equal:
        return m_canvas->zoomBy(1.25);
    case Qt::Key_Minus:
        return m_canvas->zoomBy(1.0 / 1.25);
    default:
        QWidget::keyPressEvent(event);
    }
}

QString PictureView::toolTipOf(core::HitId hit) const
{
    if (isBox(hit) && hit.index < m_picture.boxes.size())
        return toolTipOfLines(boxWords(m_picture.boxes[hit.index]));
    if (static_cast<core::GraphHit>(hit.kind) == core::GraphHit::edge && hit.index < m_picture.edges.size())
        return toolTipOfLines({QString::fromStdString(m_picture.edges[hit.index].label)});
    return {};
}

void PictureView::resizeEvent(QResizeEvent *)
{
    m_canvas->setGeometry(rect());
    placeOverlays();
}

void PictureView::placeOverlays()
{
    m_words->setGeometry(rect().adjusted(24, 24, -24, -24));
    m_words->setVisible(!m_hasPicture && !m_pending);
    m_canvas->placeCornerBar(m_hasPicture, m_hint->text());
    const auto place = [this](NoticeBar &bar, int y) {
        bar.resize(std::min(bar.sizeHint().width(), std::max(80, width() - 2 * kMargin)),
                   bar.sizeHint().height());
        bar.move((width() - bar.width()) / 2, y);
    };
    place(*m_notice, kMargin);
    place(*m_layoutNotice,
          height() - m_layoutNotice->sizeHint().height() - 2 * kMargin - m_zoomBar->height());
}

} // namespace views
