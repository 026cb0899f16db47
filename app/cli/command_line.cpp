// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command.h"
#include "app/cli/help_text.h"
#include "core/base/near_names.h"
#include "core/ipc/messages.h"

#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace app {
namespace {

using core::ErrorCode;
using core::Result;
using core::Status;
using core::Value;

constexpr OptionSpec kJson{"json", "", "print exactly one JSON document on standard output"};
constexpr OptionSpec kHelp{"help", "", "print this help", 'h'};

bool asksFor(std::span<const std::string_view> words, std::string_view option)
{
    const auto end = std::ranges::find(words, "--");
    return std::find(words.begin(), end, option) != end;
}

bool isWord(std::string_view word)
{
    return !word.starts_with('-');
}

Status unknownCommand(std::string_view name)
{
    std::vector<std::string_view> names;
    for (const CommandSpec *command : commandTable())
        names.push_back(command->name);
    const std::vector<std::string_view> near = core::nearNames(name, names, 1);
    return Status(ErrorCode::invalidArgument, "there is no command \"" + std::string(name) + "\"")
        .withRemedy(near.empty() ? "opscope-cli --help lists the commands"
                                 : core::didYouMean(near, "\"", "\""));
}

Status checkOperands(const CommandSpec &command, const Arguments &arguments)
{
    const std::size_t given = arguments.operands().size();
    if (given >= command.minOperands && given <= command.maxOperands)
        return Status::ok();
    return Status(ErrorCode::invalidArgument,
                  std::string(command.name) + " takes " + std::string(command.operands) + ", " +
                      std::to_string(given) + (given == 1 ? " operand is given" : " operands are given"));
}

Result<ExitCode> runCommand(const CommandSpec &command, std::span<const std::string_view> words,
                            CommandContext &context)
{
    std::vector<OptionSpec> options(command.options.begin(), command.options.end());
    options.push_back(kJson);
    options.push_back(kHelp);
    Result<Arguments> arguments = Arguments::parse(words, options, command.takesAnyOption);
    Status status = arguments ? checkOperands(command, *arguments) : arguments.error();
    if (!status && status.remedy().empty())
        return std::move(status).withRemedy("opscope-cli " + std::string(command.name) +
                                            " --help shows its use");
    if (!status)
        return status;
    return command.run(*arguments, context);
}

ExitCode versionAnswer(Console &console)
{
    console.print(std::string(core::buildId()) + "\n");
    console.printDocument(Value::object({{"version", core::buildId()}}));
    return ExitCode::nothingFound;
}

ExitCode printHelp(Console &console, const std::string &text)
{
    console.print(text);
    console.printDocument(Value::object({{"help", text}}));
    return ExitCode::nothingFound;
}

// Of COMMAND, or of the report or helper among WORDS.
Result<ExitCode> helpAnswer(const CommandSpec &command, std::span<const std::string_view> words,
                            Console &console)
{
    const auto operand = std::ranges::find_if(words, isWord);
    if (command.operandHelp == nullptr || operand == words.end())
        return printHelp(console, commandHelp(command));
    const Result<std::string> text = command.operandHelp(*operand);
    if (!text)
        return text.error();
    return printHelp(console, text->empty() ? commandHelp(command) : *text);
}

Result<ExitCode> dispatch(std::span<const std::string_view> words, CommandContext &context)
{
    const auto name = std::ranges::find_if(words, isWord);
    if (name == words.end()) {
        if (asksFor(words, "--version"))
            return versionAnswer(context.console);
        if (asksFor(words, "--help") || asksFor(words, "-h"))
            return printHelp(context.console, programHelp());
        return Status(ErrorCode::invalidArgument, "no command is given")
            .withRemedy("opscope-cli --help lists the commands");
    }
    const CommandSpec *command = findCommand(*name);
    if (command == nullptr)
        return unknownCommand(*name);
    std::vector<std::string_view> rest(words.begin(), name);
    rest.insert(rest.end(), name + 1, words.end());
    if (asksFor(rest, "--help") || asksFor(rest, "-h"))
        return helpAnswer(*command, rest, context.console);
    return runCommand(*command, rest, context);
}

// Nothing below throws but for want of memory; also that is a sentence, and a document with --json.
Result<ExitCode> guardedDispatch(std::span<const std::string_view> words, CommandContext &context)
{
    try {
        return dispatch(words, context);
    } catch (const std::bad_alloc &) {
        return Status(ErrorCode::limitExceeded, "there is not enough memory for this")
            .withDetail("out_of_memory");
    } catch (const std::exception &failure) {
        return Status(ErrorCode::internal, std::string("stopped by ") + failure.what());
    }
}

} // namespace

const CommandSpec *findCommand(std::string_view name)
{
    const std::span<const CommandSpec *const> table = commandTable();
    const auto found = std::ranges::find(table, name, &CommandSpec::name);
    return found == table.end() ? nullptr : *found;
}

int runCommandLine(std::span<const std::string_view> words, const ProgramStreams &streams,
                   std::stop_token stop, const std::filesystem::path &programFolder)
{
    Console console(streams.answers, streams.messages, asksFor(words, "--json"));
    core::JobContext job(
        stop, [&console](const core::Progress &progress) { console.progress(progress); },
        std::clamp(std::thread::hardware_concurrency(), 1U, 16U));
    CommandContext context{console, job, programFolder};
    Result<ExitCode> code = guardedDispatch(words, context);
    for (const std::string &warning : job.takeWarnings())
        console.warning(warning);
    if (!code) {
        console.failure(code.error());
        code = exitCodeOf(code.error());
    }
    if (const Status arrived = console.finish(); !arrived) {
        console.message(arrived.message());
        if (!arrived.remedy().empty())
            console.message(arrived.remedy());
        return static_cast<int>(ExitCode::unreadable);
    }
    return static_cast<int>(*code);
}

} // namespace app
