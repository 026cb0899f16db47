// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <optional>
#include <vector>

namespace views {

// One word of the filter line.
struct FilterToken
{
    enum class Kind { word, text, regex, either, negation, open, close };
    Kind kind = Kind::word;
    QString text; // without quotes or slashes
    int position = 0;
    int length = 0;
};

struct FilterTokens
{
    std::vector<FilterToken> tokens;
    int brokenAt = -1; // a quote or slash without its partner starts here
};

FilterTokens tokenizeFilter(const QString &text);

} // namespace views
