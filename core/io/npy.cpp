// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/npy.h"

#include "core/io/little_endian.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace core {
namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMostDimensions = 64;
constexpr std::uint64_t kLongestHeader = std::uint64_t(1) << 20U;
constexpr std::uint64_t kWidestItem = std::uint64_t(1) << 30U;

std::string_view descrOf(DType dtype)
{
    switch (dtype) {
    case DType::boolean:
        return "|b1";
    case DType::int8:
    case DType::qint8:
        return "|i1";
    case DType::uint16:
    case DType::bfloat16:
        return "<u2";
    case DType::int16:
        return "<i2";
    case DType::uint32:
    case DType::complex32:
        return "<u4";
    case DType::int32:
    case DType::qint32:
        return "<i4";
    case DType::uint64:
        return "<u8";
    case DType::int64:
        return "<i8";
    case DType::float16:
        return "<f2";
    case DType::float32:
        return "<f4";
    case DType::float64:
        return "<f8";
    case DType::complex64:
        return "<c8";
    case DType::complex128:
        return "<c16";
    default: // uint8, quint8, the float8 kinds, and bytes of a type not known
        return "|u1";
    }
}

DType dtypeOf(char kind, std::uint64_t width)
{
    struct Known
    {
        char kind;
        std::uint64_t width;
        DType dtype;
    };
    constexpr std::array kKnown = {
        Known{'b', 1, DType::boolean},   Known{'u', 1, DType::uint8},      Known{'i', 1, DType::int8},
        Known{'u', 2, DType::uint16},    Known{'i', 2, DType::int16},      Known{'u', 4, DType::uint32},
        Known{'i', 4, DType::int32},     Known{'u', 8, DType::uint64},     Known{'i', 8, DType::int64},
        Known{'f', 2, DType::float16},   Known{'f', 4, DType::float32},    Known{'f', 8, DType::float64},
        Known{'c', 8, DType::complex64}, Known{'c', 16, DType::complex128}};
    for (const Known &known : kKnown)
        if (known.kind == kind && known.width == width)
            return known.dtype;
    return DType::unknown;
}

// Reads the Python dictionary of a header: three members with a string, a boolean and a tuple of integers.
class HeaderText
{
public:
    explicit HeaderText(std::string_view text) : m_text(text) {}

    bool read(NpyInfo &info)
    {
        int seen = 0;
        if (!take('{'))
            return false;
        while (!take('}')) {
            std::string_view key;
            if (!quoted(key) || !take(':'))
                return false;
            if (key == "descr" ? !descr(info) : key == "fortran_order" ? !boolean(info) : !shape(key, info))
                return false;
            ++seen;
            take(',');
        }
        return seen == 3;
    }

    bool holdsObjects() const { return m_holdsObjects; }
    bool holdsRecords() const { return m_holdsRecords; }

private:
    void blanks()
    {
        while (!m_text.empty() && (m_text.front() == ' ' || m_text.front() == '\n'))
            m_text.remove_prefix(1);
    }
    bool take(char c)
    {
        blanks();
        if (m_text.empty() || m_text.front() != c)
            return false;
        m_text.remove_prefix(1);
        return true;
    }
    bool quoted(std::string_view &text)
    {
        blanks();
        if (m_text.empty() || (m_text.front() != '\'' && m_text.front() != '"'))
            return false;
        const std::size_t end = m_text.find(m_text.front(), 1);
        if (end == std::string_view::npos)
            return false;
        text = m_text.substr(1, end - 1);
        m_text.remove_prefix(end + 1);
        return true;
    }
    bool descr(NpyInfo &info)
    {
        blanks();
        if (!m_text.empty() && m_text.front() == '[') {
            m_holdsRecords = true;
            return skipList();
        }
        std::string_view text;
        if (!quoted(text) || text.empty())
            return false;
        info.descr = text;
        if (std::string_view("<>|=").find(text.front()) != std::string_view::npos) {
            info.bigEndian = text.front() == '>';
            text.remove_prefix(1);
        }
        m_holdsObjects = text == "O";
        if (m_holdsObjects)
            return true;
        if (text.size() < 2)
            return false;
        const auto parsed = std::from_chars(text.data() + 1, text.data() + text.size(), info.itemBytes);
        const std::string_view unit(parsed.ptr,
                                    static_cast<std::size_t>(text.data() + text.size() - parsed.ptr));
        const bool isTime = text.front() == 'M' || text.front() == 'm';
        const bool isText = text.front() == 'U' || text.front() == 'S' || text.front() == 'V';
        if (parsed.ec != std::errc() || (info.itemBytes == 0 && !isText) || info.itemBytes > kWidestItem ||
            !(unit.empty() || (isTime && unit.front() == '[' && unit.back() == ']')))
            return false;
        info.dtype = dtypeOf(text.front(), info.itemBytes);
        info.itemBytes *= text.front() == 'U' ? 4 : 1; // its width counts characters
        return true;
    }
    // A list of fields, which is only passed over.
    bool skipList()
    {
        int depth = 0;
        do {
            const char c = m_text.empty() ? '\0' : m_text.front();
            std::string_view name;
            if (c == '\'' || c == '"') {
                if (!quoted(name))
                    return false;
                continue;
            }
            if (c == '\0' || std::string_view("[](), \n0123456789").find(c) == std::string_view::npos)
                return false;
            depth += c == '[' || c == '(' ? 1 : c == ']' || c == ')' ? -1 : 0;
            m_text.remove_prefix(1);
        } while (depth > 0);
        return true;
    }
    bool boolean(NpyInfo &info)
    {
        blanks();
        for (const std::string_view word : {"True", "False"})
            if (m_text.starts_with(word)) {
                info.fortranOrder = word == "True";
                m_text.remove_prefix(word.size());
                return true;
            }
        return false;
    }
    bool shape(std::string_view key, NpyInfo &info)
    {
        if (key != "shape" || !take('('))
            return false;
        while (!take(')')) {
            blanks();
            std::int64_t extent = 0;
            const auto parsed = std::from_chars(m_text.data(), m_text.data() + m_text.size(), extent);
            if (parsed.ec != std::errc() || extent < 0 || info.shape.size() == kMostDimensions)
                return false;
            m_text.remove_prefix(static_cast<std::size_t>(parsed.ptr - m_text.data()));
            info.shape.push_back(extent);
            take('L');
            take(',');
        }
        return true;
    }

    std::string_view m_text;
    bool m_holdsObjects = false;
    bool m_holdsRecords = false;
};

Status bad(const ByteSource &source, std::string_view what, std::string_view token = "bad_header")
{
    return Status(ErrorCode::corrupt, fmt::format("{}: {}", source.name(), what))
        .withDetail(std::string(token));
}

} // namespace

std::string npyHeader(DType dtype, std::span<const std::int64_t> shape)
{
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': (", descrOf(dtype));
    for (const std::int64_t extent : shape)
        text += fmt::format("{}, ", extent);
    if (shape.size() > 1)
        text.resize(text.size() - 2);
    text += "), }";
    const std::size_t fixed = kMagic.size() + 4;
    const std::size_t total = (fixed + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
    text.resize(total - fixed - 1, ' ');
    text += '\n';
    const char start[] = {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
    return std::string(kMagic) + std::string(start, sizeof start) + text;
}

Result<NpyInfo> readNpyHeader(const ByteSource &source)
{
    std::array<std::byte, 12> start = {};
    const std::uint64_t size = source.size();
    if (size < start.size())
        return bad(source, fmt::format("{} bytes are no npy array", size));
    if (Status status = source.readAt(0, start); !status)
        return status;
    const auto version = static_cast<unsigned>(start[6]);
    if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0)
        return bad(source, "no npy header");
    if (version < 1 || version > 3)
        return bad(source, fmt::format("npy version {}, versions 1 to 3 are read", version));
    const std::uint64_t fixed = version == 1 ? 10 : 12;
    const std::uint64_t length = version == 1 ? loadLittle<std::uint16_t>(start.data() + 8)
                                              : loadLittle<std::uint32_t>(start.data() + 8);
    if (length > size - fixed)
        return bad(source, fmt::format("an npy header of {} bytes in {}", length, size), "truncated");
    const auto text = readRange(source, fixed, length, kLongestHeader);
    if (!text)
        return text.status();
    NpyInfo info;
    HeaderText header({reinterpret_cast<const char *>(text->data()), text->size()});
    if (!header.read(info))
        return bad(source, "the npy header is not one of a plain array");
    if (header.holdsObjects())
        return Status(ErrorCode::unsupported,
                      fmt::format("{}: an array of Python objects, which would have to be unpickled",
                                  source.name()))
            .withDetail("object_dtype");
    if (header.holdsRecords())
        return Status(ErrorCode::unsupported,
                      fmt::format("{}: an array of records, each of several fields", source.name()))
            .withDetail("structured_dtype");
    info.dataOffset = fixed + length;
    info.dataBytes = info.itemBytes;
    for (const std::int64_t extent : info.shape)
        if (__builtin_mul_overflow(info.dataBytes, static_cast<std::uint64_t>(extent), &info.dataBytes))
            return bad(source, "the npy shape has too many elements", "tensor_out_of_bounds");
    if (info.dataBytes > size - info.dataOffset)
        return bad(source,
                   fmt::format("the npy array has {} bytes, its shape needs {}", size - info.dataOffset,
                               info.dataBytes),
                   "truncated");
    return info;
}

} // namespace core
