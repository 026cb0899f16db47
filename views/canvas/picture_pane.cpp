// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/canvas/picture_pane.h"

#include "core/graph/graph_dot.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QScopedValueRollback>
#include <QToolButton>
#include <QVBoxLayout>

namespace views {

PicturePane::PicturePane(const PaneContext &context, const QString &id, const QString &title,
                         const QString &viewName, QWidget *parent)
    : Pane(context, id, title, parent), m_view(new PictureView(theme(), viewName, this)),
      m_export(makeIconButton(theme(), IconName::share, tr("Save the picture of %1").arg(title), this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_view, 1);
    setFocusProxy(m_view);
    connect(m_view, &PictureView::boxPicked, this, [this](std::uint32_t box) { pick(box, false); });
    connect(m_view, &PictureView::boxActivated, this, [this](std::uint32_t box) { pick(box, true); });
    connect(m_view, &PictureView::pictureShown, this, [this] {
        m_export->setEnabled(true);
        showSelected();
    });
    connect(m_view, &PictureView::wordsShown, this, [this] { m_export->setEnabled(false); });
    connect(m_view, &PictureView::boxHovered, this, [this](std::uint32_t box) {
        selection().hover(box < m_view->picture().boxes.size() ? m_view->picture().boxes[box].op
                                                               : core::OpId());
    });
    connect(m_view, &PictureView::menuWanted, this, [this](std::uint32_t box, QPoint at) {
        pick(box, false);
        Q_EMIT menuWanted(at);
    });
    connect(m_view, &PictureView::noticeActed, this, [this] { askMore(); });
    connect(m_export, &QToolButton::clicked, this, &PicturePane::exportWished);
    m_export->setEnabled(false);
}

void PicturePane::setBar(QWidget *bar)
{
    static_cast<QVBoxLayout *>(layout())->insertWidget(0, bar);
}

QToolButton *PicturePane::makeChip(const QString &text, const QString &name, QWidget *bar)
{
    auto *chip = new QToolButton(bar);
    chip->setProperty("kind", "chip");
    chip->setText(text);
    chip->setAccessibleName(name);
    chip->setToolTip(name);
    chip->setCheckable(true);
    chip->setFocusPolicy(Qt::StrongFocus);
    return chip;
}

QList<QWidget *> PicturePane::headerControls()
{
    return {m_export};
}

void PicturePane::selectItem(const SelectedItem &item, bool activate)
{
    const QScopedValueRollback<bool> guard(m_own, true);
    if (activate)
        selection().activate(item);
    else
        selection().select(item);
}

PictureExport PicturePane::exportPicture() const
{
    PictureExport out;
    if (!m_view->hasPicture() || !trace())
        return out;
    out.fileName = exportName();
    out.title = std::string(trace()->subject()) + ": " + out.fileName.toStdString();
    out.footer = exportFooter();
    out.list = m_view->drawing();
    out.dot = core::graphDot(m_view->picture(), out.title);
    return out;
}

} // namespace views
