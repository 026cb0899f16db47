// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/pane.h"

namespace views {

class CompositionStrip;
class FactList;
struct TraceFacts;

// Everything recorded about the current op (or module): composition, inputs, outputs, parameters, attributes,
// stack, consumers. Rows that name an op, a tensor or a line select it.
class DetailsPane : public Pane
{
    Q_OBJECT

public:
    explicit DetailsPane(const PaneContext &context, QWidget *parent = nullptr);

    // What a report measured where the trace recorded no statistics.
    void setFacts(std::shared_ptr<const TraceFacts> facts);

protected:
    void showTrace() override {}
    void showItem() override;

private:
    void showNothing();
    void showOp(core::OpId op);
    void showModule(core::ModuleId module);
    void addHead(core::OpId op);
    void addAttributes(core::OpId op);
    void addInputs(core::OpId op);
    void addOutputs(core::OpId op);
    void addConsumers(core::OpId op);
    void addGradients(core::OpId op);
    void addEmitted(core::OpId op, core::BackwardId pass);
    void addStack(core::OpId op);
    void addTensor(const QString &role, core::OpId op, core::TensorId tensor);

    FactList *m_list;
    std::shared_ptr<const TraceFacts> m_facts;
};

} // namespace views
