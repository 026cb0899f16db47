// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/describe_task.h"

#include "core/capture_torch/pt2_describe.h"
#include "core/io/file_kind.h"

#include <exception>

namespace core {

namespace {

Result<Value> describeModel(const std::filesystem::path &path)
{
    const Result<FileIdentity> identity = identifyFile(path);
    if (!identity)
        return identity.error();
    if (identity->kind == FileKind::torchScript)
        return describeScript(path);
    if (identity->kind != FileKind::pt2)
        return notOneOfOurs(path.string(), *identity, "a model to run (.pt2 or TorchScript)");
    LoadReport report;
    const Result<Pt2Description> description = describePt2(path, report);
    if (!description)
        return description.error();
    Value value = toValue(*description);
    Value notes = Value::list();
    for (const auto &note : report.notes())
        notes.append(note.message);
    value.set("notes", std::move(notes));
    return value;
}

} // namespace

CaptureOutcome runDescribe(const CaptureRequest &request, const TaskContext &context)
{
    CaptureOutcome outcome;
    try {
        if (context.progress)
            context.progress({"reading", {}, 0, 0, {}});
        Result<Value> described = describeModel(request.modelPath);
        if (!described) {
            outcome.error = described.error();
            return outcome;
        }
        outcome.summary = std::move(*described);
        const Value *check = request.options.find("check_inputs");
        if (check == nullptr || !check->isBool() || !check->toBool())
            return outcome;
        Result<Value> built = builtInputs(request);
        if (built)
            outcome.summary.set("built_inputs", std::move(*built));
        else
            outcome.error = built.error();
    } catch (const std::exception &error) {
        outcome.error = Status(ErrorCode::internal, std::string("describe: ") + error.what());
    }
    return outcome;
}

} // namespace core
