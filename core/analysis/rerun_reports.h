// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/analysis/report_request.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What is said of several runs of one model: bisect_precision and check_determinism of the page. Pure: the
// runs are traces with all values; capture_worker makes them.
namespace core {

// Token of the diagnostics of a reference run that say which calls did not run in its dtype, and why.
inline constexpr std::string_view kOwnDtypeToken = "own_dtype";

struct PrecisionRequest
{
    std::shared_ptr<const Trace> native;
    std::shared_ptr<const Trace> reference; // the same run with everything floating in REFERENCE DTYPE
    std::string referenceDtype = "float64";
    std::optional<double> rtol; // of every op; without it eps^0.5 of the op's native dtype
    std::optional<double> atol; // without it 10 eps
};
Result<Report> precisionReport(const PrecisionRequest &request, const JobContext &job);

// An op at which a rerun was not the first run.
struct RunDivergence
{
    std::string op; // label with its pass
    std::string why;
    Value sourceLine;
    Value module;
    std::string func;
    OpId row; // in the first run; none when it was only in the rerun
};

// One rerun against the first run.
struct RunComparison
{
    std::vector<RunDivergence> divergences; // in execution order of the first run
    std::vector<std::string> nonFinite;     // labels of the first run
    std::uint64_t unchecked = 0;
    std::uint64_t compared = 0;
};

// How two runs must agree: bit for bit (NaN equal to NaN, -0 to 0) or within tolerances.
struct AgreementPolicy
{
    std::optional<double> rtol;
    std::optional<double> atol;

    bool isExact() const { return !rtol && !atol; }
};
Result<RunComparison> compareRuns(const Trace &first, const Trace &rerun, const AgreementPolicy &policy,
                                  const JobContext &job);

struct DeterminismFacts
{
    std::shared_ptr<const Trace> first; // null: no run was made
    std::string subject;
    std::int64_t runs = 0;
    std::uint64_t seed = 0;
    AgreementPolicy policy;
    std::vector<RunComparison> reruns;      // runs 2, 3, ...
    std::optional<RunComparison> otherSeed; // the extra run of seed_sensitivity
    bool seedSensitivity = false;
    std::string copyError; // why the model cannot be copied; empty: it was
    Value witnesses;       // list of [name, value]
};
Report determinismReport(const DeterminismFacts &facts);

} // namespace core
