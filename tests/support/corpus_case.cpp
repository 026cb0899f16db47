// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/corpus_case.h"

#include "tests/support/cli_process.h"

#include <QDir>
#include <QFile>
#include <QJsonDocument>

#include <cmath>

namespace support {
namespace {

// The same tree with the files of its tensors named from the root.
QJsonValue withFolder(const QJsonValue &node, const QString &folder)
{
    if (node.isArray()) {
        QJsonArray out;
        for (const QJsonValue &item : node.toArray())
            out.append(withFolder(item, folder));
        return out;
    }
    if (!node.isObject())
        return node;
    QJsonObject out;
    const QJsonObject object = node.toObject();
    for (auto it = object.begin(); it != object.end(); ++it)
        out[it.key()] = it.key() == "tensor" && it.value().isString()
                            ? QJsonValue(folder + "/" + it.value().toString())
                            : withFolder(it.value(), folder);
    return out;
}

} // namespace

QString CorpusCase::writeInputs(const QString &workFolder) const
{
    const QJsonObject inputs = expected["inputs"].toObject();
    QJsonArray args = inputs["args"].toArray();
    QJsonObject kwargs = inputs["kwargs"].toObject();
    // A model that was traced with keywords takes them in order.
    if (isTorchScript() && expected["trace_inputs"].isArray()) {
        for (const QJsonValue &name : expected["trace_inputs"].toArray())
            args.append(kwargs[name.toString()]);
        kwargs = {};
    }
    const QJsonObject tree{{"args", withFolder(args, folder)}, {"kwargs", withFolder(kwargs, folder)}};
    QFile file(workFolder + "/inputs.json");
    if (!file.open(QIODevice::WriteOnly))
        return {};
    file.write(QJsonDocument(tree).toJson());
    return file.fileName();
}

QStringList CorpusCase::captureArguments(const QString &workFolder, const QString &trace) const
{
    const QString inputs = writeInputs(workFolder);
    if (inputs.isEmpty())
        return {};
    QStringList arguments = {"capture",  modelPath(), "-o",
                             trace,      "--seed",    QString::number(expected["seed_before_call"].toInt()),
                             "--inputs", inputs};
    if (isTorchScript() && expected["mode"].toString() == "train")
        arguments.append("--train");
    return arguments;
}

CorpusCase readCorpusCase(const QString &folder, const QString &model, const QString &answer)
{
    return {folder, model, readJson(folder + "/" + answer).toObject()};
}

QStringList corpusModels(const QString &path)
{
    QStringList out;
    const QDir folders(path);
    for (const QString &name : folders.entryList(QDir::Dirs | QDir::NoDotAndDotDot))
        for (const char *model : {"model.pt2", "model.pt"})
            if (QFile::exists(folders.filePath(name + "/" + model)))
                out.append(name + "/" + model);
    return out;
}

bool agrees(double a, double b, const QString &dtype)
{
    if (std::isnan(a) || std::isnan(b))
        return std::isnan(a) && std::isnan(b);
    if (a == b)
        return true;
    const double relative = dtype == "float16" ? 4 * 0x1p-10 : dtype == "bfloat16" ? 4 * 0x1p-7 : 1e-5;
    return std::abs(a - b) <= 1e-6 + relative * std::abs(b);
}

} // namespace support
