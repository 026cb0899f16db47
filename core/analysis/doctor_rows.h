// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/doctor.h"

#include <string>
#include <vector>

namespace core {

// One DoctorCheck (reports.md section 11.1). STATUS is pass, known_broken, scope or not_tested; SEVERITY ok,
// info, warning or error.
struct DoctorRow
{
    std::string key;
    std::string label;
    std::string status;
    std::string severity;
    bool isDetected = false;
    std::string details;
    std::string suggestion;
};

std::vector<DoctorRow> environmentRows(const DoctorFacts &facts);
std::vector<DoctorRow> modelRows(const DoctorFacts &facts);
// Summary of the flags: what is missing, not probed, absent and optional.
DoctorRow capabilitiesRow(const DoctorFacts &facts);

DoctorRow passRow(std::string key, std::string label, std::string details);
DoctorRow infoRow(std::string key, std::string label, std::string details, std::string suggestion = {});

} // namespace core
