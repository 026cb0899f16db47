// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/load_report.h"
#include "core/base/value.h"
#include "core/trace/any_record.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace core {

// Reads the lines that printRecord() writes. Members may come in any order, unknown members and unknown kinds
// are passed over; a line that is no record (no JSON, a member of another type, an impossible shape) is left
// out and noted as "bad_record". unsupportedVersion (detail incompatible_record) for a kind whose name begins
// with '!': the file asks to be refused by readers that do not know it. Keeps its buffers between calls; one
// per thread.
class RecordParser
{
public:
    RecordParser();
    ~RecordParser();

    // All lines of one segment. NAME is for messages. A last line without a line end counts when it is whole.
    Status parse(std::string_view lines, std::string_view name, std::vector<AnyRecord> &records,
                 LoadReport &report);

private:
    struct Impl;
    std::unique_ptr<Impl> m_impl;
};

} // namespace core
