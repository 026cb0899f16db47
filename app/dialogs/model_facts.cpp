// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/model_facts.h"

#include "views/base/formatting.h"

#include <QCoreApplication>

namespace app {

namespace {

QString words(const char *text)
{
    return QCoreApplication::translate("app::ModelFacts", text);
}

QString textOf(const core::Value &object, std::string_view member)
{
    return views::fromView(object.at(member).toString());
}

QString summaryOf(const core::Value &description, bool isExport)
{
    QStringList parts;
    const QString version = textOf(description, "torch_version");
    if (!isExport)
        parts.push_back(description.at("traced").toBool() ? words("TorchScript, traced")
                                                          : words("TorchScript"));
    else
        parts.push_back(version.isEmpty() ? words("torch.export")
                                          : words("torch.export of PyTorch %1").arg(version));
    if (const QString name = textOf(description, "model_class"); !name.isEmpty())
        parts.push_back(name.section(QLatin1Char('.'), -1));
    const auto elements = static_cast<std::uint64_t>(description.at("parameters").at("elements").toInt());
    parts.push_back(words("%1 parameters").arg(views::countText(elements)));
    if (description.at("sample_inputs").toBool())
        parts.push_back(words("sample inputs in the file"));
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
    return facts;
}

} // namespace app
