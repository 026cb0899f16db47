// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/help_text.h"

#include <algorithm>

namespace app {
namespace {

std::string padded(std::string_view text, std::size_t width)
{
    std::string out(text);
    out.resize(std::max(width, text.size()), ' ');
    return out;
}

std::string optionHead(const OptionSpec &option)
{
    std::string head;
    if (option.letter != 0)
        head += std::string("-") + option.letter + ", ";
    head += "--" + std::string(option.name);
    if (!option.value.empty())
        head += " " + std::string(option.value);
    return head;
}

void appendOption(std::string &out, const OptionSpec &option)
{
    out += "  " + padded(optionHead(option), 26) + "  " + std::string(option.help);
    out += option.repeats ? " (may be repeated)\n" : "\n";
}

void appendIndented(std::string &out, std::string_view lines)
{
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find('\n'), lines.size());
        out += "  " + std::string(lines.substr(0, end)) + "\n";
        lines.remove_prefix(std::min(end + 1, lines.size()));
    }
}

} // namespace

std::string programHelp()
{
    std::string out = "usage: opscope-cli COMMAND [options]\n\n"
                      "Captures, reads and diagnoses runs of PyTorch models.\n\ncommands:\n";
    for (const CommandSpec *command : commandTable())
        out += "  " + padded(command->name, 10) + "  " + std::string(command->summary) + "\n";
    out += "\noptions:\n"
           "  --help      print this help; opscope-cli COMMAND --help that of a command\n"
           "  --version   print the version and the revision this program was built from\n"
           "  --json      print exactly one JSON document on standard output\n"
           "\nexit codes:\n"
           "  0  nothing found     1  something found\n"
           "  2  the question cannot be asked so     3  a file cannot be read or written\n"
           "  4  the model raised, cannot run here, or the run was cancelled\n"
           "\nexample:\n"
           "  opscope-cli capture model.pt2 -o run.opscope\n"
           "  opscope-cli report nonfinite_origin run.opscope\n";
    return out;
}

std::string commandHelp(const CommandSpec &command)
{
    std::string out = "usage: opscope-cli " + std::string(command.name);
    if (!command.operands.empty())
        out += " " + std::string(command.operands);
    out += " [options]\n\n" + std::string(command.summary) + "\n";
    if (!command.details.empty())
        out += "\n" + std::string(command.details) + "\n";
    out += "\noptions:\n";
    for (const OptionSpec &option : command.options)
        appendOption(out, option);
    appendOption(out, {"json", "", "print exactly one JSON document on standard output"});
    appendOption(out, {"help", "", "print this help", 'h'});
    out += "\nexample:\n";
    appendIndented(out, command.example);
    return out;
}

} // namespace app
