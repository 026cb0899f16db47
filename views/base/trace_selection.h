// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/ids.h"
#include "core/base/source_location.h"
#include "core/trace/trace.h"

#include <QObject>

#include <memory>
#include <optional>
#include <variant>

namespace views {

// What can be the current thing. Exactly one at a time; std::monostate is nothing.
struct OpItem
{
    core::OpId op;
    bool operator==(const OpItem &) const = default;
};
struct ModuleItem
{
    core::ModuleId module;
    bool operator==(const ModuleItem &) const = default;
};
// One tensor seen from an op: its output or one of its inputs. OP may be none for a parameter's tensor.
struct TensorItem
{
    core::OpId op;
    core::TensorId tensor;
    bool operator==(const TensorItem &) const = default;
};
// INDEX is the flat row-major position.
struct ElementItem
{
    core::OpId op;
    core::TensorId tensor;
    std::uint64_t index = 0;
    bool operator==(const ElementItem &) const = default;
};
struct LineItem
{
    core::StringId file;
    core::LineNumber line;
    bool operator==(const LineItem &) const = default;
};
struct GradItem
{
    core::GradNodeId node;
    bool operator==(const GradItem &) const = default;
};
struct ParamItem
{
    core::ParamId param;
    bool operator==(const ParamItem &) const = default;
};
// From FIRST to LAST in execution order, both included.
struct RangeItem
{
    core::OpId first;
    core::OpId last;
    bool operator==(const RangeItem &) const = default;
};
using SelectedItem = std::variant<std::monostate, OpItem, ModuleItem, TensorItem, ElementItem, LineItem,
                                  GradItem, ParamItem, RangeItem>;

// The op an item stands on, its module and its source line: what views that cannot show the item itself
// follow.
core::OpId opOf(const core::Trace &trace, const SelectedItem &item);
core::ModuleId moduleOf(const core::Trace &trace, const SelectedItem &item);
core::TensorId tensorOf(const core::Trace &trace, const SelectedItem &item);
std::optional<LineItem> lineOf(const core::Trace &trace, const SelectedItem &item);

// The one selection that all panes of a document share, in three strengths: hovered, selected, activated.
// Owned by the session, GUI thread. Panes call select, hover and activate on a user's gesture only; each
// change emits one signal, and setting what is already there emits none, so nothing echoes.
class TraceSelection : public QObject
{
    Q_OBJECT

public:
    explicit TraceSelection(QObject *parent = nullptr);

    const std::shared_ptr<const core::Trace> &trace() const { return m_trace; }
    const SelectedItem &item() const { return m_item; }
    core::OpId hovered() const { return m_hovered; }

    core::OpId op() const;
    core::ModuleId module() const;
    core::TensorId tensor() const;
    std::optional<LineItem> line() const;

    // Replaces the trace and clears the item: traceChanged(), no changed(). ITEM is what is selected in the
    // new one.
    void setTrace(std::shared_ptr<const core::Trace> trace, const SelectedItem &item = {});

    void select(const SelectedItem &item);
    void selectOp(core::OpId op) { select(OpItem{op}); }
    void hover(core::OpId op);
    // Selects ITEM and asks every view to reveal it.
    void activate(const SelectedItem &item);

Q_SIGNALS:
    void traceChanged();
    void changed();
    void hoverChanged();
    void activated();

private:
    std::shared_ptr<const core::Trace> m_trace;
    SelectedItem m_item;
    core::OpId m_hovered;
};

} // namespace views
