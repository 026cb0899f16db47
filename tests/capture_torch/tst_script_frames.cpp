// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/capture_environment.h"
#include "core/capture_torch/capture_task.h"
#include "core/capture_torch/dispatch_tap.h"
#include "core/capture_torch/runnable_model.h"
#include "core/capture_torch/script_frames.h"
#include "core/capture_torch/script_markers.h"
#include "core/capture_torch/silent_observer.h"
#include "tests/support/corpus_case.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/jit/api/module.h>

#include <QTemporaryDir>
#include <QtTest>

using namespace core;
using support::CorpusCase;

namespace {

std::string textOf(const std::vector<RunFrame> &frames)
{
    std::string out;
    for (const RunFrame &frame : frames)
        out += frame.file + ':' + std::to_string(frame.line) + ' ' + frame.function + " | ";
    return out;
}

// At every op: the frames that the markers give and those of the interpreter's own call stack.
class FrameWatch final : public SilentObserver, public OpListener
{
public:
    std::string difference; // the first one

    void nodeStarts(const NodeInfo &node, std::optional<std::uint32_t>) override { m_node = &node; }
    void nodeEnds(const NodeInfo &) override { m_node = nullptr; }
    void opStarts(const c10::OperatorHandle &op, std::vector<c10::IValue> &, const OpMode &) override
    {
        const std::string marked = m_node == nullptr ? std::string() : textOf(m_node->frames);
        std::vector<RunFrame> frames = interpreterFrames();
        // In an operator that LibTorch made itself (1 / x) the interpreter is nowhere; we are in the user's
        // statement, for which the corpus has the lines.
        if (!frames.empty() && frames.back().file.starts_with('<')) {
            const bool placed =
                m_node != nullptr && !m_node->frames.empty() && !m_node->frames.back().file.starts_with('<');
            if (difference.empty() && !placed)
                difference = op.schema().name() + " has no place";
            return;
        }
        const std::string own = textOf(frames);
        // The interpreter loses outer frames at in-place updates of counters, and all of them at casts that
        // the autocast pass put in. What it has must be the inner end of ours.
        const bool cast = op.schema().name().starts_with("aten::_autocast_to");
        const bool agrees = own.empty() ? marked.empty() || cast : marked.ends_with(own);
        if (difference.empty() && !agrees)
            difference = op.schema().name() + ": markers " + marked + ", interpreter " + own;
    }
    void opEnded(const c10::OperatorHandle &, std::vector<c10::IValue> &) override {}
    void opFailed(const c10::OperatorHandle &) noexcept override {}

private:
    const NodeInfo *m_node = nullptr;
};

CaptureRequest requestOf(const CorpusCase &model, const QString &folder)
{
    CaptureRequest request;
    const QStringList arguments = model.captureArguments(folder, QString());
    request.modelPath = model.modelPath().toStdString();
    request.inputsTree = arguments.value(arguments.indexOf("--inputs") + 1).toStdString();
    request.train = arguments.contains("--train");
    return request;
}

} // namespace

// Markers replace the interpreter's call stack, which costs a microsecond an op. Both must say the same for
// every op of the TorchScript corpus.
class TestScriptFrames : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    // A long chain of numbers is walked once, not once a node.
    void longArithmeticIsMarkedInTime()
    {
        std::string code = "def forward(self, x):\n    a = x.size(0)\n";
        for (int i = 0; i < 10'000; ++i)
            code += "    a = a + 1\n";
        code += "    return x + a\n";
        torch::jit::Module module("Net");
        module.define(code);
        QElapsedTimer timer;
        timer.start();
        const ScriptProgram program = markScript(module);
        QVERIFY2(timer.elapsed() < 3000, qPrintable(QString::number(timer.elapsed())));
        QVERIFY(program.nodes.size() > 10'000);
        QCOMPARE(program.nodes.front().kind, std::string("aten::size"));
        QCOMPARE(program.nodes.back().kind, std::string("aten::add"));
        QCOMPARE(program.nodes.back().numberSources, std::vector<std::uint32_t>{0});
    }

    void markersGiveTheStackOfTheInterpreter_data()
    {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QString>("answer");
        const std::pair<const char *, const char *> kinds[] = {{"models", "expected.json"},
                                                               {"nan_cases", "answer.json"}};
        for (const auto &[kind, answer] : kinds) {
            const QString folder = OPSCOPE_CORPUS_DIR "/" + QString(kind);
            for (const QString &name : support::corpusModels(folder))
                if (name.endsWith("/model.pt") && !name.startsWith("custom_op/"))
                    QTest::newRow(qPrintable(name)) << folder + "/" + name.section('/', 0, 0) << answer;
        }
    }
    void markersGiveTheStackOfTheInterpreter()
    {
        QFETCH(QString, folder);
        QFETCH(QString, answer);
        const QTemporaryDir work;
        const CaptureRequest request =
            requestOf(support::readCorpusCase(folder, "model.pt", answer), work.path());
        at::set_num_threads(1);
        auto model = openScriptModel(request);
        QVERIFY2(model, model.status().message().c_str());
        const Status built = (*model)->buildInputs(request);
        QVERIFY2(built, built.message().c_str());
        seedGenerators(request);
        FrameWatch watch;
        {
            const TapScope tapped(watch);
            // A model that raises was watched up to there.
            const auto outputs = (*model)->run(request, &watch, JobContext());
            QVERIFY2(outputs || outputs.error().code() == ErrorCode::modelFailed,
                     outputs ? "" : outputs.error().message().c_str());
        }
        QVERIFY2(watch.difference.empty(), watch.difference.c_str());
    }
};

QTEST_APPLESS_MAIN(TestScriptFrames)
#include "tst_script_frames.moc"
