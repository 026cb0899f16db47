// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/console.h"

#include "app/cli/exit_code.h"
#include "core/base/units.h"
#include "core/base/write_error.h"
#include "core/capture/live_helpers.h"

#include <cerrno>
#include <unistd.h>

namespace app {
namespace {

// Names come from files: what they hold must not steer the terminal. C0 controls but tab and line feed, DEL,
// and C1 controls, which are two bytes in UTF-8, become U+FFFD.
std::string withoutControls(std::string_view text)
{
    constexpr std::string_view kReplacement = "\xef\xbf\xbd";
    const auto byteAt = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const unsigned char c = byteAt(i);
        const bool isC1 = c == 0xc2 && i + 1 < text.size() && byteAt(i + 1) >= 0x80 && byteAt(i + 1) < 0xa0;
        if (isC1 || (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
            out += kReplacement;
        else
            out += text[i];
        i += isC1 ? 1 : 0;
    }
    return out;
}

} // namespace

Console::Console(std::FILE *answers, std::FILE *messages, bool json)
    : m_answers(answers), m_messages(messages), m_json(json),
      m_answersAreTerminal(isatty(fileno(answers)) != 0), m_messagesAreTerminal(isatty(fileno(messages)) != 0)
{
}

void Console::print(std::string_view text)
{
    if (!m_json && m_answersAreTerminal)
        printRaw(withoutControls(text));
    else if (!m_json)
        printRaw(text);
}

void Console::printDocument(const core::Value &document)
{
    if (m_json && !m_hasDocument)
        printRaw(core::toJson(document, 2) + "\n");
    m_hasDocument = true;
}

void Console::printDocumentPart(std::string_view text)
{
    if (m_json)
        printRaw(text);
    m_hasDocument = true;
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
    write(m_messages,
          "opscope-cli: " + (m_messagesAreTerminal ? withoutControls(text) : std::string(text)) + "\n");
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
    std::string line = "\r\033[K" + withoutControls(progress.stage);
    if (progress.total > 0)
        line += ", " + core::formatCount(progress.done) + " of " + core::formatCount(progress.total);
    else if (progress.done > 0)
        line += ", " + core::formatCount(progress.done);
    write(m_messages, line);
    std::fflush(m_messages);
    m_hasProgress = true;
}

core::Status Console::finish()
{
    const std::lock_guard lock(m_mutex);
    clearProgress();
    const bool arrived = std::fflush(m_answers) == 0 && std::ferror(m_answers) == 0;
    if (arrived)
        return core::Status::ok();
    return core::writeError("standard output could not be written",
                            m_answerError != 0 ? m_answerError : errno);
}

void Console::clearProgress()
{
    if (m_hasProgress)
        write(m_messages, "\r\033[K");
    m_hasProgress = false;
}

void Console::write(std::FILE *stream, std::string_view text)
{
    // Whether it arrived is asked once, in finish(): the stream keeps its error flag, and this the first
    // reason.
    const bool isWhole = std::fwrite(text.data(), 1, text.size(), stream) == text.size();
    if (!isWhole && stream == m_answers && m_answerError == 0)
        m_answerError = errno;
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
