// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/capture_torch/run_observer.h"

namespace core {

// Base of observers that want few of the calls: each does nothing until it is overridden.
class SilentObserver : public RunObserver
{
public:
    void moduleDeclared(const ModuleInfo &) override {}
    void namedTensor(TensorRole, const std::vector<std::string> &, const at::Tensor &) override {}
    void moduleCallStarted(const ModuleCallInfo &) override {}
    void moduleCallEnded(const ModuleCallInfo &, const std::vector<c10::IValue> &) override {}
    void nodeStarts(const NodeInfo &, std::optional<std::uint32_t>) override {}
    void nodeEnds(const NodeInfo &) override {}
    void numberComputed(const NodeInfo &, const RunNumber &, const std::vector<std::uint32_t> &) override {}
    void regionEntered(const RegionInfo &) override {}
    void regionLeft(const RegionInfo &) override {}
    void internalOpsBegin(const NodeInfo *) override {}
    void internalOpsEnd() override {}
    void graphOutput(const std::string &, const c10::IValue &) override {}
};

} // namespace core
