// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/filter_token.h"
#include "views/base/op_filter.h"

namespace views {

// A token as a condition, or the words of what is wrong with it.
struct FilterTerm
{
    std::shared_ptr<const OpFilter::Node> node;
    QString problem;
};

FilterTerm makeFilterTerm(const FilterToken &token);

} // namespace views
