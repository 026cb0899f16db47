// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/capture_checks.h"

#include "core/capture/input_spec.h"
#include "core/io/draft_file.h"
#include "core/io/file_kind.h"

#include <sys/stat.h>
#include <variant>
#include <vector>

namespace core {
namespace {

std::string_view modelRemedy(FileKind kind)
{
    switch (kind) {
    case FileKind::nativeTrace:
    case FileKind::tlspecDirectory:
    case FileKind::tlspecZip:
        return "it is a run that was recorded already: open it, or ask opscope-cli info and opscope-cli "
               "report";
    case FileKind::torchSave:
    case FileKind::torchSaveLegacy:
    case FileKind::safetensors:
    case FileKind::safetensorsIndex:
    case FileKind::npz:
        return "weights alone cannot be run: export the model with torch.export.save; the report "
               "param_health "
               "looks at the values";
    case FileKind::npy:
        return "give it as an input of a model: --input FILE";
    default:
        return {};
    }
}

Status checkModel(const std::string &path)
{
    auto identity = identifyFile(path);
    if (!identity)
        return identity.status();
    const bool isModel = identity->kind == FileKind::pt2 || identity->kind == FileKind::torchScript;
    if (isModel && !identity->isGzip)
        return Status::ok();
    if (identity->remedy.empty())
        identity->remedy = modelRemedy(identity->kind);
    return notOneOfOurs(path, *identity, "a model to run (.pt2 or TorchScript)");
}

void addFiles(const InputNode &node, std::vector<std::string> &files)
{
    if (const auto *file = std::get_if<InputFile>(&node.leaf); file != nullptr)
        files.push_back(file->path.string());
    for (const InputNode &child : node.children)
        addFiles(child, files);
}

// The files that a request reads. What is wrong with a tree is told when it is read in earnest.
std::vector<std::string> filesRead(const CaptureRequest &request)
{
    std::vector<std::string> files = {request.modelPath, request.inputsTree};
    for (const InputText &input : request.inputs)
        if (const auto parsed = parseInputOption(input.text))
            addFiles(parsed->node, files);
    if (const auto tree = readInputTree(request.inputsTree); !request.inputsTree.empty() && tree) {
        for (const InputNode &node : tree->positional)
            addFiles(node, files);
        for (const NamedInput &input : tree->named)
            addFiles(input.node, files);
    }
    if (request.backward)
        files.push_back(request.backward->target);
    return files;
}

Status checkOutput(const CaptureRequest &request)
{
    for (const std::string &file : filesRead(request))
        if (Status status = checkNotRead(request.outputPath, file); !status)
            return status;
    return checkWritable(request.outputPath);
}

} // namespace

FileStamp FileStamp::of(const std::string &path)
{
    struct stat info = {};
    if (path.empty() || ::stat(path.c_str(), &info) != 0)
        return {};
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    return {true, info.st_dev, info.st_ino, info.st_size,
            info.st_ctim.tv_sec * kNsPerSecond + info.st_ctim.tv_nsec};
}

Status checkCaptureFiles(const CaptureRequest &request)
{
    if (!request.modelPath.empty() && request.task != "doctor")
        if (Status status = checkModel(request.modelPath); !status)
            return status;
    return request.outputPath.empty() ? Status::ok() : checkOutput(request);
}

Status tookTooLong(double seconds)
{
    return Status(ErrorCode::limitExceeded, "the run took longer than " + formatDouble(seconds) + " s")
        .withDetail("time_limit");
}

} // namespace core
