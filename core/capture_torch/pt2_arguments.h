// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/pt2_graph.h"

#include <functional>
#include <string>
#include <vector>

namespace core::pt2 {

// Turns the JSON of one argument into an Argument. The schema type decides, not the JSON tag: add.Tensor(x,
// 1) carries an integer for a tensor. One binder a graph; used while the program is built.
class ArgumentBinder
{
public:
    // What the builder knows of names: FIND gives the slot of a value, kNoSlot for an unknown name.
    using FindSlot = std::function<Slot(const std::string &name)>;

    explicit ArgumentBinder(FindSlot find) : m_find(std::move(find)) {}

    // As an argument of a dispatched op. TYPE is the schema's; COUNT its fixed list length (int[2]), 0 when
    // none.
    Argument bind(const Value &argument, const c10::TypePtr &type, int count = 0);
    // As an operand of a higher-order op, a number node or a graph output.
    Argument bindUntyped(const Value &argument);

    // What the last bind met. Empty: all well.
    std::string takeProblem() { return std::move(m_problem); }               // unknown tag or code
    std::string takeUndefined() { return std::move(m_undefined); }           // a name that no node has made
    std::vector<std::string> takeDevices() { return std::move(m_devices); }  // devices replaced by the CPU
    std::vector<Slot> takeNumberSlots() { return std::move(m_numberSlots); } // slots read as numbers

private:
    Operand operandOf(const Value &item);
    Slot slotOf(const std::string &name);
    c10::IValue literal(const Tagged &content);
    Argument boundSlot(Slot slot, const c10::TypePtr &type) const;
    Argument boundList(const Value::List &items, const c10::TypePtr &type);
    Argument boundNumber(const Value &number, const c10::TypePtr &type, int count);

    FindSlot m_find;
    std::string m_problem;
    std::string m_undefined;
    std::vector<std::string> m_devices;
    std::vector<Slot> m_numberSlots;
};

// The argument's value in a run. Throws c10::Error when a value does not fit its form.
c10::IValue evaluate(const Argument &argument, const std::vector<c10::IValue> &slots);
// The same, with lists spliced in: what higher-order ops pass on.
void evaluateInto(std::vector<c10::IValue> &out, const Argument &argument,
                  const std::vector<c10::IValue> &slots);

// A Python truth value: of a bool, a number or a one-element tensor. Not seen by the recorder.
bool isTrue(const c10::IValue &value);

} // namespace core::pt2
