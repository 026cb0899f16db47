// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/nan_trail.h"
#include "views/base/pane.h"
#include "views/base/trace_facts.h"

#include <QStringList>

#include <functional>

class QScrollArea;
class QToolButton;

namespace views {

class FactList;

// Why the current op is as it is: the rule that was broken in one sentence, its formula, what was measured at
// its inputs and its output, the element it shows at, a remedy. Of an op that only carries NaN on, where it
// came from. Facts: what the audit found. Owned by its dock; GUI thread.
class WhyPane : public Pane
{
    Q_OBJECT

public:
    explicit WhyPane(const PaneContext &context, QWidget *parent = nullptr);

    void setFacts(std::shared_ptr<const TraceFacts> facts);
    // Of the same trace; null until it is made.
    void setTrail(std::shared_ptr<const NanTrail> trail);
    // What is shown, as lines of text for a message.
    QString answerText() const { return m_told.join(QLatin1Char('\n')); }
    QList<QWidget *> headerControls() override;

protected:
    void showTrace() override {} // by showItem(), which follows
    void showItem() override;

private:
    void showOp(core::OpId op);
    void showGrad(core::GradNodeId node);
    void addHead(const QString &name, const QString &place, core::NodeState state, const QString &badge);
    void addReason(const std::string &token, const QString &otherwise);
    void addRemedy(const QString &remedy);
    void addBackward(core::OpId op);
    bool isOfBackward(const TrailStep &step, core::OpId op) const;
    const TrailStep *bornBehind(core::OpId op) const;
    void addLeaves(int pass);
    void addFact(const QString &name, const QString &value, std::function<void()> activate = {});
    void addInputs(core::OpId op);
    void addOutput(core::OpId op);
    void addMeasured(const QString &name, core::OpId op, core::TensorId tensor);
    void addOperands(core::OpId op);
    void addOrigins();
    void addLine(core::OpId op);
    const core::NonFiniteEntry *entryOf(core::OpId op) const;
    const TrailStep *stepOf(core::OpId op) const;

    bool isReady() const;

    std::shared_ptr<const TraceFacts> m_facts;
    std::shared_ptr<const NanTrail> m_trail;
    FactList *m_list;
    QToolButton *m_copy;
    QStringList m_told;
    QScrollArea *m_scroll;
};

} // namespace views
