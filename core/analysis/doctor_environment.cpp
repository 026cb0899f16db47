// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/doctor_rows.h"
#include "core/analysis/report_parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {
namespace {

DoctorRow torchRow(const DoctorFacts &facts)
{
    if (!facts.torchStatus)
        return {"pytorch",
                "PyTorch (LibTorch in capture_worker)",
                "known_broken",
                "error",
                true,
                facts.torchStatus.message(),
                "build capture_worker with packaging/run.sh; saved traces open without it"};
    return passRow("pytorch", "PyTorch (LibTorch in capture_worker)",
                   "LibTorch " + facts.torch.at("torch_version").toString());
}

DoctorRow bindingsRow(const DoctorFacts &facts)
{
    DoctorRow row = passRow("torch_wrapper_bindings", "Interception of ops", {});
    const Value &seen = facts.torch.at("interception");
    if (seen.isNull()) {
        row.status = "not_tested";
        row.severity = "info";
        row.details = "the interception of ops was not probed";
        return row;
    }
    const std::int64_t checked = seen.at("checked").toInt();
    const std::int64_t missed = seen.at("missed").toInt();
    row.details = fmt::format("{} of {} probed ops were seen", checked - missed, checked);
    if (missed > 0) {
        row.status = "scope";
        row.severity = "warning";
        row.isDetected = true;
        for (const Value &name : seen.at("examples").toList())
            row.details += ", not seen: " + name.toString();
        row.suggestion = "ops that are not seen are missing from captures of this LibTorch";
    }
    return row;
}

DoctorRow cudaRow(const DoctorFacts &facts)
{
    const Value &cuda = facts.torch.at("cuda");
    if (cuda.isNull())
        return {"cuda", "CUDA", "not_tested", "info", false, "not probed: capture_worker did not answer", {}};
    if (cuda.at("available").toBool())
        return passRow("cuda", "CUDA", fmt::format("{} devices", cuda.at("devices").toInt()));
    return {"cuda",
            "CUDA",
            "pass",
            "info",
            false,
            "not available: this LibTorch has the CPU part only",
            "name a full LibTorch in OPSCOPE_LIBTORCH to build with CUDA"};
}

DoctorRow graphvizRow(const DoctorFacts &facts)
{
    if (!facts.layoutStatus)
        return {"graphviz",
                "Graphviz (in layout_worker)",
                "scope",
                "info",
                true,
                facts.layoutStatus.message(),
                "graphs are drawn with the simplified layout until layout_worker runs"};
    return passRow("graphviz", "Graphviz (in layout_worker)",
                   fmt::format("Graphviz {}, answered in {} ms",
                               facts.layout.at("graphviz_version").toString(),
                               facts.layout.at("milliseconds").toInt()));
}

DoctorRow extrasRow(const DoctorFacts &facts)
{
    std::vector<std::string> installed;
    std::vector<std::string> missing;
    for (const auto &[name, present] : facts.host.at("optional").toObject())
        (present.toBool() ? installed : missing).push_back(name);
    return passRow("extras", "Optional parts",
                   fmt::format("installed: {}; missing: {}", installed.empty() ? "none" : joined(installed),
                               missing.empty() ? "none" : joined(missing)));
}

DoctorRow fingerprintRow(const DoctorFacts &facts)
{
    const std::string &print = facts.torch.at("fingerprint").toString();
    if (!print.empty())
        return passRow("model_fingerprint", "Model fingerprint", print.substr(0, 16));
    if (!facts.torchStatus)
        return {"model_fingerprint",
                "Model fingerprint",
                "not_tested",
                "info",
                false,
                "not probed: capture_worker did not answer",
                {}};
    return {"model_fingerprint",
            "Model fingerprint",
            "known_broken",
            "error",
            true,
            "the fingerprint of a linear layer is empty",
            {}};
}

DoctorRow factRow(std::string key, std::string label, const Value &fact)
{
    if (fact.isNull())
        return {std::move(key), std::move(label), "not_tested", "info", false, "not probed", {}};
    return passRow(std::move(key), std::move(label), fact.isString() ? fact.toString() : toJson(fact));
}

DoctorRow fontsRow(const DoctorFacts &facts)
{
    std::vector<std::string> families;
    for (const Value &family : facts.host.at("fonts").toList())
        families.push_back(family.toString());
    if (families.empty())
        return {"fonts", "Fonts", "not_tested", "info", false, "not probed", {}};
    return passRow("fonts", "Fonts", joined(families));
}

DoctorRow displayRow(const DoctorFacts &facts)
{
    const Value &display = facts.host.at("display");
    if (display.isString())
        return passRow("display", "Display", display.toString());
    return infoRow("display", "Display", "none: the window cannot open here; the command line needs none");
}

DoctorRow handshakeRow(const DoctorFacts &facts)
{
    if (!facts.torchStatus)
        return {"worker_handshake",
                "Worker handshake",
                "known_broken",
                "error",
                true,
                facts.torchStatus.message(),
                "install capture_worker beside this program, from the same build"};
    if (facts.layoutStatus.isOk())
        return passRow("worker_handshake", "Worker handshake",
                       "capture_worker and layout_worker are of this build and answer");
    return {"worker_handshake",
            "Worker handshake",
            "scope",
            "warning",
            true,
            "capture_worker answers; " + facts.layoutStatus.message(),
            "install layout_worker beside this program, from the same build"};
}

} // namespace

DoctorRow passRow(std::string key, std::string label, std::string details)
{
    return {std::move(key), std::move(label), "pass", "ok", false, std::move(details), {}};
}

DoctorRow infoRow(std::string key, std::string label, std::string details, std::string suggestion)
{
    return {std::move(key),     std::move(label),     "scope", "info", false,
            std::move(details), std::move(suggestion)};
}

DoctorRow capabilitiesRow(const DoctorFacts &facts)
{
    if (!facts.torchStatus)
        return {"torch_capabilities",
                "LibTorch capabilities",
                "not_tested",
                "info",
                false,
                "not probed: capture_worker did not answer",
                {}};
    const auto &optional = optionalCapabilities();
    std::vector<std::string> missing;
    std::vector<std::string> unprobed;
    std::vector<std::string> optionalAbsent;
    std::size_t present = 0;
    const Value snapshot = capabilitySnapshot(facts);
    const auto &flags = snapshot.toObject();
    for (const auto &[name, available] : flags) {
        const bool isOptional = std::find(optional.begin(), optional.end(), name) != optional.end();
        const bool known = name == "HAS_GRAPHVIZ" || facts.torch.at("flags").at(name).isBool();
        if (available.toBool())
            ++present;
        else if (isOptional)
            optionalAbsent.push_back(name);
        else
            (known ? missing : unprobed).push_back(name);
    }
    DoctorRow row = passRow("torch_capabilities", "LibTorch capabilities",
                            fmt::format("{}/{} capabilities present", present, flags.size()));
    if (!missing.empty())
        row.details += "; missing=" + joined(missing);
    if (!unprobed.empty())
        row.details += "; unprobed=" + joined(unprobed);
    if (!optionalAbsent.empty())
        row.details += "; optional_absent=" + joined(optionalAbsent);
    if (!missing.empty()) {
        row.status = "not_tested";
        row.severity = "warning";
        row.isDetected = true;
        row.suggestion = "what needs the missing capabilities says so when it is used";
    }
    return row;
}

std::vector<DoctorRow> environmentRows(const DoctorFacts &facts)
{
    return {
        torchRow(facts),
        capabilitiesRow(facts),
        bindingsRow(facts),
        infoRow("mechanical_belt", "Constructors outside the dispatcher",
                "not applicable: Python constructors (from_numpy, from_dlpack) do not occur in a model file; "
                "tensor literals are recorded as constants"),
        cudaRow(facts),
        graphvizRow(facts),
        passRow("safetensors", "safetensors", "read by this program itself"),
        extrasRow(facts),
        fingerprintRow(facts),
        factRow("cpu", "CPU features", facts.torch.at("cpu_capability")),
        factRow("torch_build", "Build of LibTorch", facts.torch.at("build")),
        factRow("threads", "Threads", facts.torch.at("threads")),
        factRow("determinism", "Determinism flags", facts.torch.at("determinism")),
        fontsRow(facts),
        displayRow(facts),
        handshakeRow(facts),
        factRow("sandbox", "Limits of the worker processes", facts.host.at("sandbox"))};
}

} // namespace core
