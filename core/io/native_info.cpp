// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_info.h"

#include "core/trace/failure_cause.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace core {
namespace {

constexpr std::array kSources = {std::pair(TraceSource::own, std::string_view("own")),
                                 std::pair(TraceSource::torchLens, std::string_view("torchlens")),
                                 std::pair(TraceSource::kineto, std::string_view("kineto")),
                                 std::pair(TraceSource::executionTrace, std::string_view("execution_trace"))};

std::string_view sourceWord(TraceSource source)
{
    for (const auto &[value, word] : kSources)
        if (value == source)
            return word;
    return "own";
}

// The members of the manifest that are plain texts.
constexpr std::array kTexts = {std::pair(std::string_view("producer"), &TraceInfo::producer),
                               std::pair(std::string_view("created"), &TraceInfo::createdUtc),
                               std::pair(std::string_view("source_version"), &TraceInfo::formatVersion),
                               std::pair(std::string_view("model_name"), &TraceInfo::modelName),
                               std::pair(std::string_view("model_path"), &TraceInfo::modelPath),
                               std::pair(std::string_view("model_kind"), &TraceInfo::modelKind),
                               std::pair(std::string_view("model_class"), &TraceInfo::modelClass),
                               std::pair(std::string_view("model_hash"), &TraceInfo::modelHash),
                               std::pair(std::string_view("subject"), &TraceInfo::subject)};
constexpr std::array kValues = {std::pair(std::string_view("request"), &TraceInfo::request),
                                std::pair(std::string_view("environment"), &TraceInfo::environment),
                                std::pair(std::string_view("honesty"), &TraceInfo::honesty),
                                std::pair(std::string_view("attributes"), &TraceInfo::attributes)};

void readMembers(const Value &from, TraceInfo &info)
{
    for (const auto &[key, member] : kTexts)
        if (const Value *text = from.find(key); text != nullptr)
            info.*member = text->toString();
    for (const auto &[key, member] : kValues)
        if (const Value *value = from.find(key); value != nullptr)
            info.*member = *value;
    for (const auto &[source, word] : kSources)
        if (from.at("source").toString() == word)
            info.source = source;
}

std::uint32_t recordId(const Value &value)
{
    const std::int64_t id = value.toInt(-1);
    return id >= 0 && id < 0xffffffffLL ? static_cast<std::uint32_t>(id) : 0xffffffffU;
}

Value idValue(std::uint32_t id)
{
    return id == 0xffffffffU ? Value() : Value(id);
}

} // namespace

Value manifestValue(const TraceInfo &info)
{
    Value manifest = Value::object(
        {{"format", kNativeFormat}, {"version", kNativeVersion}, {"source", sourceWord(info.source)}});
    for (const auto &[key, member] : kTexts)
        if (!(info.*member).empty())
            manifest.set(key, info.*member);
    for (const auto &[key, member] : kValues)
        if (!(info.*member).isNull())
            manifest.set(key, info.*member);
    return manifest;
}

Value finalValue(const TraceInfo &info, const Value &started, Value counts)
{
    Value final = Value::object({{"status", traceStatusName(info.status)}, {"counts", std::move(counts)}});
    if (!info.totals.isNull())
        final.set("totals", info.totals);
    const TraceFailure &failure = info.failure;
    if (!failure.op.empty() || !failure.message.empty() || !failure.signal.empty())
        final.set("failure", Value::object({{"op", failure.op},
                                            {"message", failure.message},
                                            {"signal", failure.signal},
                                            {"call", idValue(failure.call)},
                                            {"stack", idValue(failure.stack)}}));
    const Value now = manifestValue(info);
    Value changed = Value::object();
    for (const auto &[key, value] : now.toObject())
        if (started.at(key) != value)
            changed.set(key, value);
    for (const auto &[key, value] : started.toObject())
        if (now.find(key) == nullptr)
            changed.set(key, Value());
    if (!changed.toObject().empty())
        final.set("manifest", std::move(changed));
    return final;
}

void noteNotWritten(TraceInfo &ended, const Status &reason)
{
    TraceFailure &failure = ended.failure;
    if (ended.status != TraceStatus::crashed && ended.status != TraceStatus::cancelled)
        ended.status = TraceStatus::failed;
    if (failure.message.find(reason.message()) == std::string::npos)
        failure.message += (failure.message.empty() ? "" : "; ") + reason.message();
    if (failureCause(ended).empty())
        setFailureCause(ended, reason.detail());
}

Status readManifest(const Value &manifest, TraceInfo &info)
{
    if (manifest.at("format").toString() != kNativeFormat)
        return {ErrorCode::unknownFormat, fmt::format("the manifest names the format '{}', not {}",
                                                      manifest.at("format").toString(), kNativeFormat)};
    const std::int64_t version = manifest.at("version").toInt(-1);
    if (version != kNativeVersion)
        return {ErrorCode::unsupportedVersion,
                fmt::format("format version {}, this program reads {}", version, kNativeVersion)};
    readMembers(manifest, info);
    return Status::ok();
}

void readFinal(const Value &final, TraceInfo &info)
{
    for (int i = 0; i <= static_cast<int>(TraceStatus::crashed); ++i)
        if (final.at("status").toString() == traceStatusName(static_cast<TraceStatus>(i)))
            info.status = static_cast<TraceStatus>(i);
    info.totals = final.at("totals");
    const Value &failure = final.at("failure");
    info.failure.op = failure.at("op").toString();
    info.failure.message = failure.at("message").toString();
    info.failure.signal = failure.at("signal").toString();
    info.failure.call = recordId(failure.at("call"));
    info.failure.stack = recordId(failure.at("stack"));
    readMembers(final.at("manifest"), info);
}

} // namespace core
