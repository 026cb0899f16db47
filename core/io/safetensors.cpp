// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/safetensors.h"

#include "core/base/utf8.h"
#include "core/base/value.h"
#include "core/io/little_endian.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <unordered_set>

namespace core {
namespace {

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLongestHeader = 100'000'000;
constexpr std::size_t kDeepestHeader = 16;

struct Spelling
{
    std::string_view name;
    DType dtype;
};

constexpr Spelling kSpellings[] = {
    {"BOOL", DType::boolean},
    {"U8", DType::uint8},
    {"I8", DType::int8},
    {"U16", DType::uint16},
    {"I16", DType::int16},
    {"U32", DType::uint32},
    {"I32", DType::int32},
    {"U64", DType::uint64},
    {"I64", DType::int64},
    {"F8_E4M3", DType::float8_e4m3fn},
    {"F8_E5M2", DType::float8_e5m2},
    {"F8_E4M3FNUZ", DType::float8_e4m3fnuz},
    {"F8_E5M2FNUZ", DType::float8_e5m2fnuz},
    {"F8_E8M0", DType::float8_e8m0fnu},
    {"F16", DType::float16},
    {"BF16", DType::bfloat16},
    {"F32", DType::float32},
    {"F64", DType::float64},
    {"C64", DType::complex64},
    {"C128", DType::complex128},
};

Status wrong(const ByteSource &source, std::string_view token, const std::string &message)
{
    return Status(ErrorCode::corrupt, fmt::format("{}: {}", source.name(), message))
        .withDetail(std::string(token));
}

// The header's JSON. Duplicate names are looked for here: a parser that keeps the last one would hide data.
Result<Value> parseHeader(const ByteSource &source, std::string_view text)
{
    if (!isUtf8(text))
        return wrong(source, "bad_utf8", "the header is not UTF-8");
    JsonLimits limits;
    limits.depth = kDeepestHeader;
    auto value = parseJson(text, source.name(), limits);
    if (!value) {
        const bool deep = value.error().code() == ErrorCode::limitExceeded;
        return Status(value.error()).withDetail(deep ? "nesting_too_deep" : "bad_json");
    }
    if (!value->isObject())
        return wrong(source, "bad_json", "the header is no JSON object");
    std::unordered_set<std::string_view> names;
    for (const auto &[name, entry] : value->toObject())
        if (!names.insert(name).second)
            return wrong(source, "duplicate_name", fmt::format("tensor {} is there twice", name));
    return value;
}

Status readOffsets(const ByteSource &source, const Safetensors &file, const Value &value,
                   SafetensorsEntry &entry)
{
    const Value::List &offsets = value.at("data_offsets").toList();
    const std::uint64_t data = source.size() - file.dataOffset;
    if (offsets.size() != 2 || !offsets[0].isInt() || !offsets[1].isInt())
        return wrong(source, "bad_json", fmt::format("tensor {} has no two data_offsets", entry.name));
    const auto begin = static_cast<std::uint64_t>(offsets[0].toInt());
    const auto end = static_cast<std::uint64_t>(offsets[1].toInt());
    if (begin > end || end > data)
        return wrong(source, end > data ? "truncated" : "tensor_out_of_bounds",
                     fmt::format("tensor {} is at bytes {} to {}, the data section has {}", entry.name, begin,
                                 end, data));
    entry.offset = file.dataOffset + begin;
    entry.bytes = end - begin;
    return Status::ok();
}

Result<SafetensorsEntry> readEntry(const ByteSource &source, const Safetensors &file,
                                   const Value::Member &member, LoadReport &report)
{
    const Value &value = member.second;
    SafetensorsEntry entry;
    entry.name = member.first;
    entry.dtypeName = value.at("dtype").toString();
    entry.dtype = dtypeFromSafetensors(entry.dtypeName);
    if (!value.isObject() || entry.dtypeName.empty() || !value.at("shape").isList())
        return wrong(source, "bad_json", fmt::format("tensor {} has no dtype and shape", entry.name));
    std::uint64_t bytes = std::max<std::size_t>(itemSize(entry.dtype), 1);
    bool fits = true;
    for (const Value &size : value.at("shape").toList()) {
        const std::int64_t extent = size.isInt() ? size.toInt() : -1;
        fits =
            fits && extent >= 0 && !__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
        entry.shape.push_back(extent);
    }
    if (!fits || entry.shape.size() > 64)
        return wrong(source, "tensor_out_of_bounds",
                     fmt::format("tensor {} has an impossible shape", entry.name));
    if (Status status = readOffsets(source, file, value, entry); !status)
        return status;
    if (entry.dtype == DType::unknown)
        report.add("unknown_dtype", fmt::format("{}: tensor {} has the unknown dtype {}", source.name(),
                                                entry.name, entry.dtypeName));
    else if (bytes != entry.bytes)
        return wrong(
            source, "size_mismatch",
            fmt::format("tensor {} has {} bytes, its shape needs {}", entry.name, entry.bytes, bytes));
    return entry;
}

// Sorted by begin the ranges must cover the data section exactly.
Status checkRanges(const ByteSource &source, const Safetensors &file)
{
    std::vector<std::size_t> order(file.tensors.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto range = [&](std::size_t i) {
        return std::pair(file.tensors[i].offset, file.tensors[i].offset + file.tensors[i].bytes);
    };
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return range(a) < range(b); });
    std::uint64_t at = file.dataOffset;
    for (const std::size_t i : order) {
        const SafetensorsEntry &entry = file.tensors[i];
        if (entry.offset != at)
            return wrong(source, entry.offset < at ? "overlapping_tensors" : "gap",
                         fmt::format("tensor {} begins at byte {}, the one before it ends at {}", entry.name,
                                     entry.offset - file.dataOffset, at - file.dataOffset));
        at += entry.bytes;
    }
    if (at != source.size())
        return wrong(source, "gap", fmt::format("the last {} bytes belong to no tensor", source.size() - at));
    return Status::ok();
}

} // namespace

DType dtypeFromSafetensors(std::string_view name)
{
    for (const Spelling &spelling : kSpellings)
        if (spelling.name == name)
            return spelling.dtype;
    return DType::unknown;
}

bool looksLikeSafetensors(std::span<const std::byte> head, std::uint64_t size)
{
    if (head.size() < kLengthBytes + 1 || head[kLengthBytes] != std::byte{'{'})
        return false;
    // The four high bytes of any sane header length are zero; the exact limit is the reader's message.
    const auto length = loadLittle<std::uint64_t>(head.data());
    return length <= size || length > kLongestHeader;
}

Result<Safetensors> readSafetensors(const ByteSource &source, LoadReport &report)
{
    std::array<std::byte, kLengthBytes> head;
    if (source.size() < head.size())
        return wrong(source, "truncated", fmt::format("{} bytes are no safetensors file", source.size()));
    if (Status status = source.readAt(0, head); !status)
        return status;
    const auto length = loadLittle<std::uint64_t>(head.data());
    if (length > kLongestHeader)
        return Status(ErrorCode::limitExceeded, fmt::format("{}: a header of {} bytes, the limit is {}",
                                                            source.name(), length, kLongestHeader))
            .withDetail("header_too_long");
    if (length > source.size() - kLengthBytes)
        return wrong(source, "truncated",
                     fmt::format("a header of {} bytes, the file has {}", length, source.size()));
    const auto bytes = readRange(source, kLengthBytes, length, kLongestHeader);
    if (!bytes)
        return bytes.status();
    const auto header = parseHeader(source, {reinterpret_cast<const char *>(bytes->data()), bytes->size()});
    if (!header)
        return header.status();
    Safetensors file;
    file.dataOffset = kLengthBytes + length;
    for (const Value::Member &member : header->toObject()) {
        if (member.first == "__metadata__") {
            for (const auto &[key, text] : member.second.toObject())
                file.metadata.emplace_back(key, text.toString());
            continue;
        }
        auto entry = readEntry(source, file, member, report);
        if (!entry)
            return entry.status();
        file.tensors.push_back(std::move(*entry));
    }
    if (Status status = checkRanges(source, file); !status)
        return status;
    return file;
}

} // namespace core
