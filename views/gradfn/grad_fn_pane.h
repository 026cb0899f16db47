// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/canvas/picture_pane.h"
#include "views/gradfn/grad_fn_facts.h"

class QComboBox;
class QLabel;
class QToolButton;

namespace views {

// The autograd graph of the trace as a picture: leaves above, outputs below, with what each node did in a
// backward pass. A click selects the grad function, and with it its op everywhere; Enter or a double click
// opens the op. Facts: answers, layouts. Owned by its dock; GUI thread.
class GradFnPane : public PicturePane
{
    Q_OBJECT

public:
    explicit GradFnPane(const PaneContext &context, QWidget *parent = nullptr);

    void setPicture(const GradFnAnswer &answer);
    QComboBox &passBox() const { return *m_passes; }
    // Whether the walk starts from the selected op instead of the outputs.
    bool startsAtSelection() const;
    void setStartsAtSelection(bool selected);

Q_SIGNALS:
    void pictureWished(const views::GradFnWish &wish);

protected:
    void showTrace() override;
    void showItem() override;
    void showSelected() override;
    void pick(std::uint32_t box, bool activate) override;
    void askMore() override;
    QString exportName() const override;
    std::vector<std::string> exportFooter() const override;

private:
    QWidget *buildBar();
    void fillPasses();
    void ask();

    QComboBox *m_passes = nullptr;
    QLabel *m_passLabel = nullptr;
    QToolButton *m_outputs = nullptr;
    QToolButton *m_selected = nullptr;
    QLabel *m_counts = nullptr;
    GradFnWish m_wish;
    std::int64_t m_nodes;
};

} // namespace views
