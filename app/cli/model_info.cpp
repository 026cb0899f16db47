// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/model_info.h"

#include "app/cli/model_run.h"
#include "core/base/units.h"
#include "core/io/file_kind.h"

#include <algorithm>

namespace app {
namespace {

using core::Result;
using core::Value;

std::string line(std::string_view name, std::string_view text)
{
    std::string out(name);
    out.resize(std::max<std::size_t>(out.size() + 1, 22), ' ');
    return out + std::string(text) + "\n";
}

std::string countText(const Value &count)
{
    return core::formatCount(static_cast<std::uint64_t>(count.toInt()));
}

std::string stateText(const Value &state)
{
    return countText(state.at("tensors")) + " tensors, " + countText(state.at("elements")) + " elements, " +
           core::formatBytes(static_cast<std::uint64_t>(state.at("bytes").toInt()));
}

std::string inputText(const Value &input)
{
    std::string out = input.at("name").toString();
    out.resize(std::max<std::size_t>(out.size() + 1, 24), ' ');
    out += input.at("expected").toString();
    if (input.at("fixed").toBool())
        out += " (fixed at export)";
    if (!input.at("required").toBool(true))
        out += " (may be left out)";
    if (const std::string &text = input.at("specification").toString(); !text.empty())
        out += "   --input " + input.at("name").toString() + "=" + text;
    return out;
}

std::string opsText(const Value &model)
{
    std::uint64_t calls = 0;
    for (const Value &op : model.at("ops").toList())
        calls += static_cast<std::uint64_t>(op.at("count").toInt());
    std::string out =
        line("op calls in the file",
             core::formatCount(calls) + " of " + std::to_string(model.at("ops").toList().size()) + " kinds");
    for (const Value &op : model.at("ops").toList()) {
        const std::string &refusal = op.at("refusal").toString();
        out += "  " + op.at("op").toString() + "  " + countText(op.at("count")) +
               (refusal.empty() ? "" : "  cannot run here: " + refusal) + "\n";
    }
    return out;
}

std::string modelText(const std::string &path, const Value &model)
{
    std::string out = line("model file", path) + line("format", model.at("format").toString());
    const auto add = [&](std::string_view name, const Value &value) {
        if (value.isString() && !value.toString().empty())
            out += line(name, value.toString());
    };
    add("class", model.at("model_class"));
    add("mode", model.at("mode"));
    add("written by torch", model.at("torch_version"));
    add("schema", model.at("schema_version"));
    for (const std::string_view flag : {"traced", "frozen", "sample_inputs"})
        if (model.at(flag).toBool())
            out += line(flag == "sample_inputs" ? "sample inputs" : flag, "yes");
    for (const std::string_view state : {"parameters", "buffers", "constants"})
        out += line(state, stateText(model.at(state)));
    out += line("modules", core::formatCount(model.at("modules").toList().size()));
    out += line("inputs", core::formatCount(model.at("inputs").toList().size()));
    for (const Value &input : model.at("inputs").toList())
        out += "  " + inputText(input) + "\n";
    for (const Value &device : model.at("mapped_devices").toList())
        out += line("device becomes cpu", device.toString());
    out += opsText(model);
    add("cannot run here", model.at("refusal"));
    return out;
}

} // namespace

bool isModelFile(const std::string &path)
{
    const Result<core::FileIdentity> identity = core::identifyFile(path);
    return identity &&
           (identity->kind == core::FileKind::pt2 || identity->kind == core::FileKind::torchScript);
}

Result<ExitCode> runModelInfo(const std::string &path, CommandContext &context)
{
    core::CaptureRequest request;
    request.modelPath = path;
    request.task = "describe";
    const Result<core::CaptureOutcome> outcome = runModel(request, context);
    if (!outcome)
        return outcome.error();
    if (!outcome->error)
        return outcome->error;
    Value document = Value::object({{"file", path}});
    for (const auto &[name, value] : outcome->summary.toObject())
        document.set(name, value);
    for (const Value &warning : outcome->summary.at("notes").toList())
        context.console.warning(warning.toString());
    context.console.print(modelText(path, document));
    context.console.printDocument(document);
    return ExitCode::nothingFound;
}

} // namespace app
