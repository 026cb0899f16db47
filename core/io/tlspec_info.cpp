// SPDX-License-Identifier: GPL-3.0-or-later
// What a TorchLens bundle says of itself, its source frames and texts.
#include "core/base/utf8.h"
#include "core/io/pickle_value_text.h"
#include "core/io/tlspec_importer.h"

#include <fmt/format.h>

#include <algorithm>

namespace core {
namespace {

constexpr std::string_view kTotals[] = {
    "num_ops",
    "num_saved_ops",
    "num_saved_layers",
    "num_params",
    "num_params_trainable",
    "num_params_frozen",
    "num_param_tensors",
    "total_activation_memory",
    "saved_activation_memory",
    "total_gradient_memory",
    "saved_gradient_memory",
    "total_backward_memory",
    "total_autograd_memory",
    "total_param_memory",
    "total_param_gradient_memory",
    "forward_peak_memory",
    "backward_peak_memory",
    "forward_memory_backend",
    "backward_memory_backend",
    "setup_duration",
    "forward_duration",
    "cleanup_duration",
    "func_calls_duration",
    "backward_durations",
    "capture_start_time",
    "capture_end_time",
    "num_backward_passes",
    "num_saved_grad_fns",
    "num_saved_grad_fn_calls",
    "num_saved_module_calls",
};

constexpr std::string_view kRequest[] = {
    "random_seed",   "save_grads",          "save_raw_activations",  "save_raw_gradients",
    "save_mode",     "_layer_nums_to_save", "_grad_op_nums_to_save", "detach_saved_activations",
    "output_device", "track_nonfinite",     "raise_on_nan",          "recurrence_detection",
    "grouping",      "capture_mode",        "inference_only",
};

constexpr std::string_view kAttributes[] = {
    "trace_label",
    "model_label",
    "backend",
    "module_identity_mode",
    "param_source",
    "input_layers",
    "output_layers",
    "buffer_layers",
    "internal_source_ops",
    "internal_sink_ops",
    "conditional_records",
    "conditionals",
    "conditional_branch_edges",
    "conditional_arm_entry_edges",
    "layers_with_params",
    "op_equivalence_classes",
    "_containers",
    "graph_shape_hash",
    "param_hash_quick",
    "input_signature_hash",
    "forward_signature",
    "forward_source_file",
    "forward_source_line",
    "class_source_file",
    "class_source_line",
    "is_appended",
    "halted",
    "halt_reason",
    "_capture_outcome",
    "annotations",
    "orphan_records",
    "backward_root_grad_fn_object_ids",
    "grad_fn_order",
    "_ambiguous_lookup_keys",
    "state",
};

// Modules whose names may stand in a pickle that TorchLens wrote itself.
bool isExpectedGlobal(std::string_view module, std::string_view name)
{
    for (const std::string_view prefix : {"torchlens.", "torch.", "numpy."})
        if (module.starts_with(prefix))
            return module != "torch.hub" && !module.starts_with("torch.utils.cpp_extension");
    if (module == "torchlens" || module == "torch" || module == "numpy" || module == "collections")
        return true;
    constexpr std::string_view kBuiltins[] = {"getattr",   "object",  "slice",     "Ellipsis", "set",
                                              "frozenset", "complex", "bytearray", "bytes",    "list",
                                              "dict",      "tuple",   "int",       "float",    "bool",
                                              "str",       "type",    "range",     "NoneType"};
    if (module == "builtins" || module == "__builtin__")
        return std::find(std::begin(kBuiltins), std::end(kBuiltins), name) != std::end(kBuiltins);
    return false;
}

std::string baseName(const std::string &path)
{
    return path.substr(path.find_last_of("/\\") + 1);
}

// "torch.nn.modules.linear.Linear" -> "linear.py"
std::string sourceFileOfClass(std::string_view qualifiedName)
{
    const std::size_t last = qualifiedName.rfind('.');
    if (last == std::string_view::npos || last == 0)
        return {};
    const std::size_t before = qualifiedName.rfind('.', last - 1);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    return std::string(qualifiedName.substr(begin, last - begin)) + ".py";
}

template <std::size_t N>
Value collect(PickleValue root, const std::string_view (&names)[N])
{
    Value values;
    for (const std::string_view name : names)
        if (const PickleValue value = root.find(name); !value.isNone())
            values.set(name.substr(name.front() == '_' ? 1 : 0), pickleToValue(value));
    return values;
}

} // namespace

void TlspecImporter::readInfo()
{
    const Value &json = m_manifest->json;
    TraceInfo &info = m_builder.info();
    info.source = TraceSource::torchLens;
    info.formatVersion = std::to_string(m_manifest->version);
    info.producer = "torchlens " + json.at("torchlens_version").toString();
    info.createdUtc = json.at("created_at").toString();
    info.modelName = pickleText(top("model_class_name"));
    info.modelKind = "eager";
    info.modelClass = pickleText(top("model_class_qualname"));
    if (info.modelClass.empty())
        info.modelClass = json.at("model_signature").toString();
    info.subject = pickleText(top("trace_label"));
    info.hasBackward = top("has_backward_pass").toBool();
    info.totals = collect(m_root, kTotals);
    info.request = collect(m_root, kRequest);
    info.attributes = collect(m_root, kAttributes);
    for (const std::string_view key : {"save_level", "model_fingerprint", "unsupported_tensors", "provenance",
                                       "backward_summary", "schema_version", "bundle_format"})
        if (const Value *value = json.find(key); value != nullptr && !value->isNull())
            info.attributes.set(key, *value);
    for (const std::string_view key : {"torch_version", "python_version", "platform", "torchlens_version"})
        if (const Value *value = json.find(key); value != nullptr && !value->isNull())
            info.environment.set(key, *value);
    for (const Value &entry : json.at("unsupported_tensors").toList())
        if (entry.at("kind").toString() == "out")
            m_unsupported.insert(entry.at("label").toString());
    if (!m_unsupported.empty())
        report().add(
            "unsupported_payloads",
            fmt::format("{} tensors could not be stored by the bundle's writer", m_unsupported.size()));
    readCaptureStatus();
}

// Only captures that ended in order can be saved; releases that did not yet say so left the word out.
void TlspecImporter::readCaptureStatus()
{
    const PickleValue outcome = top("_capture_outcome");
    std::string word = pickleText(outcome.find("status"));
    if (word.empty())
        word = top("halted").toBool() ? "halted" : "complete";
    TraceInfo &info = m_builder.info();
    info.status = word == "complete"            ? TraceStatus::finished
                  : word == "halted"            ? TraceStatus::cancelled
                  : word == "aborted_nonfinite" ? TraceStatus::stoppedAtNonFinite
                  : word == "failed"            ? TraceStatus::failed
                                                : TraceStatus::unknown;
    info.honesty.set("schema", "torchlens.capture_honesty.v1");
    info.honesty.set("capture_status", word);
    for (const std::string_view key :
         {"capture_verified", "capture_verification_reason", "rescue_rerun", "structure_only", "poisoned"})
        info.honesty.set(key, pickleToValue(top(key)));
}

void TlspecImporter::noteForeignGlobals()
{
    for (const PickleValue global : m_graph.globals())
        if (!isExpectedGlobal(global.module(), global.name()))
            report().add("foreign_global",
                         fmt::format("the metadata names {}, which is shown as a name and never "
                                     "imported or called",
                                     cleanUtf8(global.fullName())));
}

// The text of the model's class, moved down to its line so that line numbers hold.
Status TlspecImporter::addSources()
{
    const PickleValue blob = top("_source_code_blob");
    for (const std::string_view key : {"class", "init+forward", "forward"}) {
        const PickleValue text = blob.find(key);
        const std::string content = pickleText(text);
        const std::string file = pickleText(pickleAttribute(text, "file_path"));
        const std::int64_t line = pickleAttribute(text, "line_number").toInt(1);
        if (content.empty() || file.empty() || line < 1 || line > 10'000'000)
            continue;
        SourceRecord record;
        record.id = 0;
        record.file = file;
        record.entry = "source/" + baseName(file);
        m_store->addText(record.entry, std::string(static_cast<std::size_t>(line - 1), '\n') + content);
        return m_builder.add(std::move(record));
    }
    return Status::ok();
}

// Frames name files without their folders. A file is a library's when a module class of that library comes
// from a file of this name and no class of the user's does.
void TlspecImporter::collectLibraryFiles()
{
    std::unordered_set<std::string> users = {baseName(pickleText(top("forward_source_file"))),
                                             baseName(pickleText(top("class_source_file")))};
    m_torchFiles = {"functional.py", "module.py", "container.py", "_tensor.py"};
    for (const auto &[key, module] :
         picklePairs(pickleAttribute(top("_io_module_accessor_state"), "_dict"))) {
        const std::string name = pickleText(pickleAttribute(module, "class_qualname"));
        if (name.starts_with("torch."))
            m_torchFiles.insert(sourceFileOfClass(name));
        else if (name.starts_with("torchvision.") || name.starts_with("transformers.") ||
                 name.starts_with("timm."))
            m_packageFiles.insert(sourceFileOfClass(name));
        else
            users.insert(baseName(pickleText(pickleAttribute(module, "class_source_file"))));
    }
    for (const std::string &file : users) {
        m_torchFiles.erase(file);
        m_packageFiles.erase(file);
    }
}

FrameOrigin TlspecImporter::frameOrigin(const std::string &file, const std::string &function) const
{
    if (file.find("/torch/") != std::string::npos)
        return FrameOrigin::torch;
    if (file.find("site-packages/") != std::string::npos || file.find("dist-packages/") != std::string::npos)
        return FrameOrigin::package;
    if (file.find("lib/python") != std::string::npos)
        return FrameOrigin::standardLibrary;
    if (!file.empty() && file.front() == '<')
        return FrameOrigin::generated;
    const std::string name = baseName(file);
    if (m_torchFiles.count(name) != 0 && function != "<module>")
        return FrameOrigin::torch;
    return m_packageFiles.count(name) != 0 ? FrameOrigin::package : FrameOrigin::user;
}

// Frames in the bundle's order: the root's forward first, inwards, and last the line that started the
// capture, which is no line of the model.
RecordId TlspecImporter::stack(PickleValue context)
{
    const auto locations = pickleItems(context);
    std::vector<RecordId> ids;
    for (std::size_t i = 0; i < locations.size(); ++i) {
        const PickleValue location = locations[i];
        const std::string file = pickleText(pickleAttribute(location, "file"));
        const std::int64_t line = pickleAttribute(location, "line_number").toInt();
        std::string function = pickleText(pickleAttribute(location, "func_qualname"));
        if (function.empty())
            function = pickleText(pickleAttribute(location, "func_name"));
        const bool isCaptureCall = i > 0 && i + 1 == locations.size();
        const auto key = std::tuple(file, isCaptureCall ? -line : line, function);
        const auto [found, isNew] = m_frames.emplace(key, static_cast<RecordId>(m_frames.size()));
        ids.push_back(found->second);
        if (!isNew)
            continue;
        FrameRecord frame;
        frame.id = found->second;
        frame.file = file;
        frame.line = line > 0 && line < 0x7fffffff ? static_cast<std::uint32_t>(line) : 0;
        frame.function = function;
        std::string text = pickleText(pickleAttribute(location, "_call_line"));
        frame.text = text.substr(std::min(text.find_first_not_of(" \t"), text.size()));
        frame.origin = frameOrigin(file, function);
        if (isCaptureCall && frame.origin == FrameOrigin::user)
            frame.origin = FrameOrigin::package;
        if (!m_builder.add(std::move(frame)))
            return kNoRecord;
    }
    if (ids.empty())
        return kNoRecord;
    const auto [found, isNew] = m_stacks.emplace(std::move(ids), static_cast<RecordId>(m_stacks.size()));
    if (isNew && !m_builder.add(StackRecord{found->second, found->first}))
        return kNoRecord;
    return found->second;
}

} // namespace core
