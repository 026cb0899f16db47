// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/job_context.h"
#include "core/base/result.h"
#include "core/base/value.h"

#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>

namespace app {

// The two streams of the command line: answers go to standard output, everything else to standard error.
// With --json the answer is one JSON document and nothing else is printed to standard output. Owned by
// main(); progress may be reported from any thread.
class Console
{
public:
    Console(std::FILE *answers, std::FILE *messages, bool json);

    bool isJson() const { return m_json; }

    // Part of a human answer; a line break is not added. Does nothing with --json.
    void print(std::string_view text);
    // The JSON answer; only with --json, and only the first one: what comes after is not printed.
    void printDocument(const core::Value &document);
    // A part of a JSON answer that is too long to be made whole; only with --json. The caller ends it in any
    // case: a failure then has no document of its own.
    void printDocumentPart(std::string_view text);
    // "opscope-cli: TEXT" on standard error.
    void message(std::string_view text);
    void warning(std::string_view text);
    // A failure for a person, and with --json the error document too.
    void failure(const core::Status &status);
    // One line that is rewritten in place; only when standard error is a terminal.
    void progress(const core::Progress &progress);
    // What standard output did not take everything for (a full disk, a closed pipe).
    core::Status finish();

private:
    void printRaw(std::string_view text);
    void clearProgress();
    void write(std::FILE *stream, std::string_view text);

    std::FILE *m_answers;
    std::FILE *m_messages;
    bool m_json;
    bool m_answersAreTerminal;
    bool m_messagesAreTerminal;
    bool m_hasDocument = false;
    bool m_hasProgress = false;
    int m_answerError = 0; // an errno
    std::mutex m_mutex;
};

// {"error": {"type", "code", "message", "remedy"}}; remedy is null when there is none.
core::Value errorDocument(const core::Status &status);

} // namespace app
