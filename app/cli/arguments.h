// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/value.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace app {

// One option of a command. Names are spelled with dashes; the parser takes underscores for dashes.
struct OptionSpec
{
    std::string_view name;  // "max-depth", without the leading dashes
    std::string_view value; // what its value is called in --help; empty: a flag without a value
    std::string_view help;
    char letter = 0; // a short form: 'o' for -o
    bool repeats = false;
};

// The words of one command line, sorted into operands and options. Values are texts as typed; the getters
// read them and name the option when they do not fit.
class Arguments
{
public:
    // Sorts WORDS (those after the command's name) by OPTIONS. "--name value", "--name=value", "-o value";
    // "--" ends the options. With ANY OPTION an unknown --name is taken with its value (true when another
    // option or nothing follows). invalidArgument names the word.
    static core::Result<Arguments> parse(std::span<const std::string_view> words,
                                         std::span<const OptionSpec> options, bool anyOption);

    const std::vector<std::string> &operands() const { return m_operands; }
    const std::string &operand(std::size_t index) const { return m_operands[index]; }

    bool has(std::string_view name) const { return find(name) != nullptr; }
    // The last value given, or "".
    std::string_view text(std::string_view name) const;
    std::vector<std::string> texts(std::string_view name) const;
    // A whole number from LEAST to MOST, nothing when the option is not given.
    core::Result<std::optional<std::int64_t>>
    integer(std::string_view name, std::int64_t least,
            std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
    // The options that the command does not know itself: a helper's, dashes in names as underscores.
    core::Result<core::Value> helperOptions() const;

private:
    core::Status takeOption(std::span<const std::string_view> words, std::size_t &at,
                            std::span<const OptionSpec> options, bool anyOption);
    void keep(const OptionSpec *spec, const std::string &name, std::string_view value);
    const std::string *find(std::string_view name) const;

    struct GivenOption
    {
        std::string name;
        std::string value;
        bool isHelpers = false; // not in the command's own list
    };

    std::vector<std::string> m_operands;
    std::vector<GivenOption> m_options; // in the order given
};

// A helper's option as it is spelled here: "grad_scale" -> "grad-scale".
std::string dashed(std::string_view name);

// The value of a helper's option: true, false, none, null, a number, NaN or Infinity, JSON for mappings,
// lists and quoted strings, else the text itself. invalidArgument when JSON text is broken.
core::Result<core::Value> parseOptionValue(std::string_view name, std::string_view text);

} // namespace app
