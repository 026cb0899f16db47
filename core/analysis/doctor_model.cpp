// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/analysis/doctor_rows.h"

#include <fmt/format.h>

namespace core {
namespace {

// The first FEW items of a list of texts, with how many more there are.
std::string fewOf(const Value &list, std::size_t few = 5)
{
    std::string text;
    const auto &items = list.toList();
    for (std::size_t i = 0; i < items.size() && i < few; ++i)
        text += (i == 0 ? "" : ", ") + (items[i].isString() ? items[i].toString() : toJson(items[i]));
    if (items.size() > few)
        text += fmt::format(" and {} more", items.size() - few);
    return text;
}

DoctorRow tiedRow(const Value &model)
{
    DoctorRow row = passRow("tied_parameters", "Tied parameters", "none");
    const auto &pairs = model.at("tied").toList();
    if (pairs.empty())
        return row;
    row.severity = "info";
    row.isDetected = true;
    row.details.clear();
    for (std::size_t i = 0; i < pairs.size() && i < 3; ++i) {
        const auto &names = pairs[i].toList();
        if (names.size() >= 2)
            row.details += (i == 0 ? "" : ", ") + names[0].toString() + "=" + names[1].toString();
    }
    return row;
}

// A row about a list of names that should be empty.
DoctorRow emptyListRow(DoctorRow found, std::string good, const Value &list)
{
    if (list.toList().empty())
        return passRow(std::move(found.key), std::move(found.label), std::move(good));
    found.isDetected = true;
    found.details = fewOf(list);
    return found;
}

std::vector<DoctorRow> pythonOnlyRows()
{
    std::vector<DoctorRow> rows;
    const std::pair<const char *, const char *> keys[] = {
        {"hf_transformers", "Hugging Face wrapper"},
        {"accelerate_device_map_auto", "Accelerate device map"},
        {"accelerate_cpu_disk_offload", "Accelerate offload"},
        {"bitsandbytes_8bit_4bit", "bitsandbytes"},
        {"peft_lora_adapters", "PEFT adapters"},
        {"data_parallel", "DataParallel"},
        {"distributed_data_parallel", "DistributedDataParallel"},
        {"fsdp", "FSDP"},
        {"dtensor", "DTensor"},
        {"device_mesh", "Device mesh"},
        {"tensor_parallel", "Tensor parallel"},
        {"pipeline_parallel", "Pipeline parallel"},
        {"deepspeed", "DeepSpeed"},
        {"torch_compile", "torch.compile"},
        {"fx_graph_module", "FX graph module"},
        {"lightning_training_step", "Lightning training step"},
    };
    for (const auto &[key, label] : keys)
        rows.push_back(infoRow(key, label, "not applicable here: a model file holds no Python wrapper"));
    return rows;
}

// Train or eval was fixed when the file was made; a TorchScript model can still be called in training mode.
DoctorRow modeRow(const Value &model)
{
    const std::string &mode = model.at("mode").toString();
    if (mode.empty())
        return infoRow("mode", "Train or eval", "not known: nothing in the file depends on it");
    if (model.at("kind").toString() == "torchscript")
        return infoRow("mode", "Train or eval", mode + "; --train runs it in training mode");
    return infoRow("mode", "Train or eval", mode + ", fixed at export");
}

DoctorRow inputsRow(const Value &model)
{
    if (const std::string &error = model.at("inputs_error").toString(); !error.empty())
        return {"inputs", "Inputs", "known_broken", "error", true, error, "the inputs that were given"};
    const bool none = model.at("inputs").toList().empty();
    return infoRow("inputs", "Inputs",
                   none ? "not known: the file has none and none were given" : fewOf(model.at("inputs"), 8));
}

std::vector<DoctorRow> fileRows(const Value &model)
{
    const std::string &kind = model.at("kind").toString();
    std::vector<DoctorRow> rows;
    DoctorRow script = passRow("torchscript_module", "TorchScript module", "a torch.export archive");
    if (kind == "torchscript") {
        script.status = "scope";
        script.severity = "warning";
        script.isDetected = true;
        script.details = "TorchScript is deprecated by PyTorch";
        script.suggestion = "export the model with torch.export.save for the first-class road";
    }
    rows.push_back(script);
    rows.push_back(emptyListRow({"missing_ops",
                                 "Ops that this LibTorch does not have",
                                 "known_broken",
                                 "error",
                                 true,
                                 {},
                                 "the model cannot run here; its graph can be opened"},
                                "none", model.at("missing_ops")));
    rows.push_back(emptyListRow({"unsupported_nodes",
                                 "Nodes that cannot run outside Python",
                                 "known_broken",
                                 "error",
                                 true,
                                 {},
                                 "export the model without them"},
                                "none", model.at("unsupported")));
    rows.push_back(emptyListRow({"cuda_constants",
                                 "Devices named in the file",
                                 "pass",
                                 "info",
                                 true,
                                 {},
                                 "they are mapped to the CPU, and the trace says so"},
                                "none but the CPU", model.at("cuda_constants")));
    rows.push_back(infoRow("dtypes", "Element types", fewOf(model.at("dtypes"), 12)));
    rows.push_back(infoRow("devices", "Devices", fewOf(model.at("devices"), 8)));
    rows.push_back(
        infoRow("sizes", "Sizes",
                fmt::format("{} parameters and buffers, {} bytes", model.at("parameters").at("count").toInt(),
                            model.at("parameters").at("bytes").toInt())));
    rows.push_back(modeRow(model));
    rows.push_back(inputsRow(model));
    return rows;
}

} // namespace

std::vector<DoctorRow> modelRows(const DoctorFacts &facts)
{
    std::vector<DoctorRow> rows;
    if (!facts.modelStatus) {
        rows.push_back({"model_readable", "The model file", "known_broken", "error", true,
                        facts.modelStatus.message(), facts.modelStatus.remedy()});
        return rows;
    }
    const Value &model = *facts.model;
    rows = pythonOnlyRows();
    rows.push_back(tiedRow(model));
    rows.push_back(
        facts.torch.at("cuda").at("devices").toInt() > 1
            ? DoctorRow{"multi_gpu_rng",
                        "Random numbers on several GPUs",
                        "pass",
                        "info",
                        true,
                        "more than one CUDA device: captures seed all of them",
                        {}}
            : passRow("multi_gpu_rng", "Random numbers on several GPUs", "at most one CUDA device"));
    rows.push_back(emptyListRow({"vmap_functorch",
                                 "vmap and functorch",
                                 "known_broken",
                                 "error",
                                 true,
                                 {},
                                 "export the model without torch.vmap"},
                                "not used", model.at("vmap")));
    DoctorRow quantized = passRow("quantized_tensor", "Quantized tensors", "none");
    if (model.at("quantized").toBool())
        quantized = {"quantized_tensor",
                     "Quantized tensors",
                     "known_broken",
                     "error",
                     true,
                     "quantized weights or inputs: they run, their values are not measured",
                     {}};
    rows.push_back(quantized);
    DoctorRow fp8 = passRow("fp8_dtype", "float8 tensors", "none");
    if (model.at("fp8").toBool())
        fp8 = {"fp8_dtype", "float8 tensors",
               "scope",     "warning",
               true,        "float8 parameters, buffers or inputs: few CPU kernels take them",
               {}};
    rows.push_back(fp8);
    rows.push_back(passRow("device_context_factory", "Factories under a device context",
                           "devices are part of the file"));
    rows.push_back(passRow("single_thread_design", "One thread runs the model",
                           "capture_worker is a process of its own and runs all ops on one thread"));
    for (DoctorRow &row : fileRows(model))
        rows.push_back(std::move(row));
    return rows;
}

} // namespace core
