// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/model_facts.h"

#include "views/base/counted_text.h"
#include "views/base/formatting.h"

#include <QCoreApplication>

namespace app {

namespace {

constexpr std::uint64_t kRecordBytes = 1500; // measured: what a call and its tensors take beside the values

QString modelWords(const char *text)
{
    return QCoreApplication::translate("app::ModelFacts", text);
}

QString textOf(const core::Value &object, std::string_view member)
{
    return views::fromView(object.at(member).toString());
}

std::uint64_t countOf(const core::Value &value)
{
    return static_cast<std::uint64_t>(value.toInt());
}

QString summaryOf(const core::Value &description, bool isExport)
{
    QStringList parts;
    const QString version = textOf(description, "torch_version");
    if (!isExport)
        parts.push_back(description.at("traced").toBool() ? modelWords("TorchScript, traced")
                                                          : modelWords("TorchScript"));
    else
        parts.push_back(version.isEmpty() ? modelWords("torch.export")
                                          : modelWords("torch.export of PyTorch %1").arg(version));
    if (const QString name = textOf(description, "model_class"); !name.isEmpty())
        parts.push_back(name.section(QLatin1Char('.'), -1));
    const auto elements = static_cast<std::uint64_t>(description.at("parameters").at("elements").toInt());
    parts.push_back(views::countedText(elements, "parameter", "parameters"));
    if (description.at("sample_inputs").toBool())
        parts.push_back(modelWords("sample inputs in the file"));
    return parts.join(QStringLiteral(" · "));
}

} // namespace

ModelFacts modelFactsFrom(const core::Value &description)
{
    ModelFacts facts;
    const bool isExport = description.at("format").toString() == "torch.export";
    facts.summary = summaryOf(description, isExport);
    facts.refusal = textOf(description, "refusal");
    facts.mode = textOf(description, "mode");
    facts.isModeFixed = isExport;
    facts.canGuess = !isExport;
    facts.hasSampleInputs = description.at("sample_inputs").toBool();
    for (const core::Value &input : description.at("inputs").toList()) {
        InputFacts entry;
        entry.name = textOf(input, "path");
        entry.expected = textOf(input, "expected");
        entry.specification = textOf(input, "specification");
        entry.isFixed = input.at("fixed").toBool();
        const core::Value *required = input.find("required");
        entry.isRequired = required == nullptr || required->toBool(true);
        facts.inputs.push_back(std::move(entry));
    }
    for (const core::Value &output : description.at("outputs").toList())
        facts.outputs.push_back(views::fromView(output.toString()));
    for (const core::Value &size : description.at("value_sizes").toList())
        facts.valueSizes.emplace_back(countOf(size.at("bytes")), countOf(size.at("count")));
    facts.valuesOfUnknownSize = countOf(description.at("values_of_unknown_size"));
    for (const core::Value &op : description.at("ops").toList())
        facts.ops += countOf(op.at("count"));
    facts.parameterBytes = countOf(description.at("parameters").at("bytes"));
    facts.stateBytes = facts.parameterBytes + countOf(description.at("buffers").at("bytes")) +
                       countOf(description.at("constants").at("bytes"));
    return facts;
}

std::optional<std::uint64_t> expectedTraceBytes(const ModelFacts &facts, const core::CaptureRequest &request)
{
    if (facts.valueSizes.empty() || facts.valuesOfUnknownSize > 0)
        return std::nullopt;
    const bool backward = request.backward.has_value();
    const std::uint64_t records = kRecordBytes * facts.ops * (backward ? 2 : 1);
    if (request.save.mode == core::SavePolicy::Mode::none)
        return records;
    if (request.save.mode == core::SavePolicy::Mode::chosen)
        return std::nullopt;
    std::uint64_t values = 0;
    for (const auto &[bytes, count] : facts.valueSizes)
        if (bytes <= request.save.maxBytesPerTensor)
            values += bytes * count;
    const std::uint64_t passes = backward ? request.backward->passes : 0;
    return records + values + facts.stateBytes + passes * (values + facts.parameterBytes);
}

std::vector<core::InputText> foundInputs(const core::Value &result)
{
    std::vector<core::InputText> inputs;
    if (result.at("found").toBool())
        for (const core::Value &input : result.at("inputs").toList())
            // Other helpers tell under this name what an op was given.
            if (const std::string spec(input.at("spec").toString()); !spec.empty())
                inputs.push_back({input.at("name").toString(), spec});
    return inputs;
}

} // namespace app
