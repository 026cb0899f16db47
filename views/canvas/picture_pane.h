// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"
#include "views/canvas/picture_export.h"
#include "views/canvas/picture_view.h"

class QToolButton;
class QVBoxLayout;

namespace views {

// What panes have in common that show a picture of ops below a bar of controls: clicks and hovering become
// the selection, the notice asks for more, the picture can be written to a file. Owned by its dock; GUI
// thread.
class PicturePane : public Pane
{
    Q_OBJECT

public:
    PictureView &view() const { return *m_view; }
    // What is shown; empty without a picture.
    PictureExport exportPicture() const;
    QList<QWidget *> headerControls() override;

Q_SIGNALS:
    void exportWished();

protected:
    // VIEWNAME is what the canvas is called for a screen reader.
    PicturePane(const PaneContext &context, const QString &id, const QString &title, const QString &viewName,
                QWidget *parent);

    // Where the bar goes, above the picture.
    void setBar(QWidget *bar);
    // A checkable button of a bar; NAME is its accessible name and tooltip.
    QToolButton *makeChip(const QString &text, const QString &name, QWidget *bar);
    bool isOwnChange() const { return m_own; }
    // Selects or activates on behalf of the pane: showItem() then finds isOwnChange().
    void selectItem(const SelectedItem &item, bool activate);

    // The boxes of the current item, once a picture is placed.
    virtual void showSelected() = 0;
    // The user chose a box: a click, or a double click and Enter.
    virtual void pick(std::uint32_t box, bool activate) = 0;
    // The user wants more than the ceiling.
    virtual void askMore() = 0;
    // "lineage-relu_4_5", and what the picture is of.
    virtual QString exportName() const = 0;
    virtual std::vector<std::string> exportFooter() const { return {}; }

private:
    PictureView *m_view;
    QToolButton *m_export;
    bool m_own = false;
};

} // namespace views
