// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/console.h"

#include "app/cli/exit_code.h"
#include "core/base/units.h"
#include "core/capture/live_helpers.h"

#include <unistd.h>

namespace app {

Console::Console(std::FILE *answers, std::FILE *messages, bool json)
    : m_answers(answers), m_messages(messages), m_json(json),
      m_messagesAreTerminal(isatty(fileno(messages)) != 0)
{
}

void Console::print(std::string_view text)
{
    if (!m_json)
        printRaw(text);
}

void Console::printDocument(const core::Value &document)
{
    if (m_json)
        printRaw(core::toJson(document, 2) + "\n");
}

void Console::printRaw(std::string_view text)
{
    const std::lock_guard lock(m_mutex);
    clearProgress();
    write(m_answers, text);
}

void Console::message(std::string_view text)
{
    const std::lock_guard lock(m_mutex);
    clearProgress();
    write(m_messages, "opscope-cli: " + std::string(text) + "\n");
}

void Console::warning(std::string_view text)
{
    message("warning: " + std::string(text));
}

void Console::failure(const core::Status &status)
{
    message(status.message());
    if (!status.remedy().empty())
        message(status.remedy());
    printDocument(errorDocument(status));
}

void Console::progress(const core::Progress &progress)
{
    if (!m_messagesAreTerminal)
        return;
    const std::lock_guard lock(m_mutex);
    std::string line = "\r\033[K" + progress.stage;
    if (progress.total > 0)
        line += ", " + core::formatCount(progress.done) + " of " + core::formatCount(progress.total);
    else if (progress.done > 0)
        line += ", " + core::formatCount(progress.done);
    write(m_messages, line);
    std::fflush(m_messages);
    m_hasProgress = true;
}

bool Console::finish()
{
    const std::lock_guard lock(m_mutex);
    clearProgress();
    return std::fflush(m_answers) == 0 && std::ferror(m_answers) == 0;
}

void Console::clearProgress()
{
    if (m_hasProgress)
        write(m_messages, "\r\033[K");
    m_hasProgress = false;
}

void Console::write(std::FILE *stream, std::string_view text)
{
    // Whether it arrived is asked once, in finish(): the stream keeps its error flag.
    std::fwrite(text.data(), 1, text.size(), stream);
}

core::Value errorDocument(const core::Status &status)
{
    core::Value error = core::Value::object();
    // The refusals with a class of their own (reports.md section 10.5); that of shapes has no code.
    const bool shape = status.detail() == core::kShapeInference;
    error.set("type", shape                                        ? "ShapeInferenceError"
                      : status.detail() == "grad_fn_walk_no_graph" ? "GradFnWalkError"
                                                                   : errorTypeOf(status.code()));
    error.set("code", shape                     ? core::Value()
                      : status.detail().empty() ? core::Value(core::errorCodeName(status.code()))
                                                : core::Value(status.detail()));
    error.set("message", status.message());
    error.set("remedy", status.remedy().empty() ? core::Value() : core::Value(status.remedy()));
    return core::Value::object({{"error", std::move(error)}});
}

} // namespace app
