// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QJsonArray>
#include <QJsonObject>
#include <QJsonValue>
#include <QString>
#include <QStringList>

namespace support {

// One model of the corpus in one of its formats, and how it is to be called.
struct CorpusCase
{
    QString folder;
    QString model;        // "model.pt2" or "model.pt"
    QJsonObject expected; // expected.json or answer.json

    bool isTorchScript() const { return model == "model.pt"; }
    QString modelPath() const { return folder + "/" + model; }

    // Writes the inputs of its answers as a tree into WORK FOLDER; the path, empty when it cannot be written.
    QString writeInputs(const QString &workFolder) const;
    // The arguments of `opscope-cli capture` that run it as its answers were made: inputs (a tree written to
    // WORK FOLDER), seed, mode. Empty when the tree cannot be written.
    QStringList captureArguments(const QString &workFolder, const QString &trace) const;
};

// The case in FOLDER with ANSWER file ("expected.json", "answer.json").
CorpusCase readCorpusCase(const QString &folder, const QString &model, const QString &answer);

// Folders below PATH of the corpus, and which of the two formats each holds: "attention/model.pt2".
QStringList corpusModels(const QString &path);

// Values made in another process agree within these; of 16-bit types within 4 units in the last place. NaN
// agrees with NaN.
bool agrees(double a, double b, const QString &dtype);

} // namespace support
