// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_index.h"

#include "core/io/index_columns.h"
#include "core/io/little_endian.h"
#include "core/io/record_fields.h"
#include "core/trace/parent_chains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

namespace core {
namespace {

using namespace index_schema;

constexpr std::string_view kMagic = "OPSCIDX1";
constexpr std::size_t kAlignment = 64;
// Rows handled together, so that a table goes through the cache once for all of its columns.
constexpr std::size_t kBlockRows = 512;
constexpr std::size_t kMostNotes = 10'000; // a trace's report keeps 20 of a kind

std::size_t aligned(std::size_t at)
{
    return (at + kAlignment - 1) / kAlignment * kAlignment;
}

// Where and how a column stands in the file. offset counts from the end of the header.
struct Place
{
    std::int64_t base = 0;
    unsigned width = 0;
    std::size_t offset = 0;
};

Members block(const std::byte *data, std::size_t rowSize, std::size_t offset, std::size_t begin,
              std::size_t rows)
{
    return {data + begin * rowSize + offset, std::min(kBlockRows, rows - begin), rowSize};
}

std::vector<Place> plan(const std::byte *data, std::size_t rows, std::size_t rowSize,
                        std::span<const Stored> columns, std::size_t &end)
{
    std::vector<Bounds> bounds(columns.size());
    for (std::size_t begin = 0; begin < rows; begin += kBlockRows)
        for (std::size_t i = 0; i < columns.size(); ++i)
            bounds[i].include(
                boundsOf(columns[i].type, block(data, rowSize, columns[i].offset, begin, rows)));
    std::vector<Place> places;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        Place place{bounds[i].isEmpty() ? 0 : bounds[i].low, widthFor(columns[i].type, bounds[i]), end};
        end = aligned(end + place.width * rows);
        places.push_back(place);
    }
    return places;
}

Value describe(std::string_view name, std::size_t rows, std::span<const Stored> columns,
               std::span<const Place> places)
{
    Value list = Value::list();
    for (std::size_t i = 0; i < columns.size(); ++i)
        list.append(Value::list({columns[i].name, typeName(columns[i].type), places[i].width,
                                 static_cast<std::int64_t>(places[i].base), places[i].offset}));
    return Value::object({{"name", name}, {"rows", rows}, {"columns", std::move(list)}});
}

struct StringTable
{
    std::vector<std::uint32_t> lengths;
    std::uint64_t bytes = 0;
    const std::vector<Stored> columns = {{"length", Type::u32}};
};

StringTable lengthsOf(const StringPool &pool)
{
    StringTable table;
    table.lengths.reserve(pool.size());
    for (std::size_t i = 0; i < pool.size(); ++i) {
        table.lengths.push_back(static_cast<std::uint32_t>(pool.view(StringId(i)).size()));
        table.bytes += table.lengths.back();
    }
    return table;
}

Value headerFacts(const TraceTables &tables, const IndexFacts &facts)
{
    Value notes = Value::list();
    for (const LoadReport::Note &note : facts.notes.notes())
        notes.append(Value::list({note.token, note.message, note.count}));
    const TraceFailure &failure = tables.info.failure;
    return Value::object({{"version", 1},
                          {"segments", facts.segments},
                          {"notes", std::move(notes)},
                          {"has_backward", tables.info.hasBackward},
                          {"failure_call", failure.call == kNoRecord ? Value() : Value(failure.call)},
                          {"failure_stack", failure.stack == kNoRecord ? Value() : Value(failure.stack)},
                          {"failure_label", failure.label}});
}

void packTable(const std::byte *data, std::size_t rows, std::size_t rowSize, std::span<const Stored> columns,
               std::span<const Place> places, std::byte *out)
{
    for (std::size_t begin = 0; begin < rows; begin += kBlockRows)
        for (std::size_t i = 0; i < columns.size(); ++i)
            pack(columns[i].type, block(data, rowSize, columns[i].offset, begin, rows), places[i].base,
                 places[i].width, out + places[i].offset + begin * places[i].width);
}

// Reads one index; a member function a step.
class Decoder
{
public:
    Decoder(std::span<const std::byte> bytes, std::string_view name) : m_bytes(bytes), m_name(name) {}

    Result<TraceTables> run(IndexFacts &facts)
    {
        for (const auto step : {&Decoder::readHeader, &Decoder::readRowCounts, &Decoder::readStrings,
                                &Decoder::readTables, &Decoder::checkRanges, &Decoder::checkModules})
            if (Status status = (this->*step)(); !status)
                return status;
        readFacts(facts);
        return std::move(m_tables);
    }

private:
    Status damaged(std::string_view what) const
    {
        return Status(ErrorCode::corrupt, fmt::format("{}: {}", m_name, what)).withDetail("bad_index");
    }
    Status otherVersion(std::string_view what) const
    {
        return Status(ErrorCode::unsupportedVersion, fmt::format("{}: {}", m_name, what))
            .withDetail("other_index");
    }

    Status readHeader();
    Status readRowCounts();
    Status readStrings();
    Status readTables();
    Status readTable(const TableInfo &table, const Value &header);
    Result<Place> place(const Value &header, const Stored &column, std::size_t rows) const;
    Status checkBounds(const Stored &column, const Bounds &bounds) const;
    Status checkRanges();
    Status checkModules();
    Status checkTensors();
    void readFacts(IndexFacts &facts);
    std::uint64_t limitOf(Table table) const;

    std::span<const std::byte> m_bytes;
    std::span<const std::byte> m_data;
    std::string_view m_name;
    Value m_header;
    std::vector<std::size_t> m_rows;
    TraceTables m_tables;
};

Status Decoder::readHeader()
{
    if (m_bytes.size() < 16 || std::memcmp(m_bytes.data(), kMagic.data(), kMagic.size()) != 0)
        return otherVersion("not an index of this version");
    const auto length = loadLittle<std::uint64_t>(m_bytes.data() + 8);
    if (length > m_bytes.size() - 16 || aligned(16 + length) > m_bytes.size())
        return damaged(fmt::format("a header of {} bytes in {}", length, m_bytes.size()));
    const std::string_view text(reinterpret_cast<const char *>(m_bytes.data()) + 16, length);
    auto header = parseJson(text, m_name, {16, std::size_t(64) << 20U});
    if (!header)
        return header.status();
    m_header = std::move(*header);
    m_data = m_bytes.subspan(aligned(16 + length));
    if (m_header.at("version").toInt() != 1 || m_header.at("tables").toList().size() != kTables + 1)
        return otherVersion(fmt::format("index version {}", m_header.at("version").toInt()));
    return Status::ok();
}

Status Decoder::readRowCounts()
{
    const Value::List &headers = m_header.at("tables").toList();
    for (std::size_t i = 0; i <= kTables; ++i) {
        const std::string_view name = i < kTables ? tables()[i].name : std::string_view("strings");
        if (headers[i].at("name").toString() != name)
            return otherVersion(
                fmt::format("table {} is {}, not {}", i, headers[i].at("name").toString(), name));
        const std::int64_t rows = headers[i].at("rows").toInt(-1);
        if (rows < 0 || rows >= std::numeric_limits<std::uint32_t>::max())
            return damaged(fmt::format("table {} has {} rows", name, rows));
        m_rows.push_back(static_cast<std::size_t>(rows));
    }
    // Columns may be much narrower than rows; no file gets more memory than this for its size.
    constexpr std::uint64_t kLeast = std::uint64_t(64) << 20U;
    constexpr std::uint64_t kMost = std::uint64_t(16) << 30U;
    const std::uint64_t allowed = std::min(kMost, std::max(kLeast, m_bytes.size() * std::uint64_t(200)));
    std::uint64_t memory = 0;
    for (std::size_t i = 0; i < kTables; ++i)
        memory += m_rows[i] * std::uint64_t(tables()[i].rowSize);
    if (memory > allowed)
        return Status(ErrorCode::limitExceeded,
                      fmt::format("{}: {} bytes expand to {} bytes of tables, the limit is {}", m_name,
                                  m_bytes.size(), memory, allowed))
            .withDetail("bad_index");
    return Status::ok();
}

std::uint64_t Decoder::limitOf(Table table) const
{
    return table == Table::storages ? kNoRecord : m_rows[static_cast<std::size_t>(table)];
}

Result<Place> Decoder::place(const Value &header, const Stored &column, std::size_t rows) const
{
    const Value::List &parts = header.toList();
    if (parts.size() != 5 || parts[0].toString() != column.name ||
        parts[1].toString() != typeName(column.type))
        return otherVersion(fmt::format("column {} is not where it is looked for", column.name));
    const std::int64_t width = parts[2].toInt(-1);
    const std::int64_t offset = parts[4].toInt(-1);
    const bool known = width == 0 || width == 1 || width == 2 || width == 4 || width == 8;
    const std::uint64_t size = known ? static_cast<std::uint64_t>(width) * rows : 0;
    if (!known || !parts[3].isInt() || offset < 0 || size > m_data.size() ||
        static_cast<std::uint64_t>(offset) > m_data.size() - size)
        return damaged(fmt::format("column {} of {} rows has {} bytes a number at {}, the data have {} bytes",
                                   column.name, rows, width, offset, m_data.size()));
    return Place{parts[3].toInt(), static_cast<unsigned>(width), static_cast<std::size_t>(offset)};
}

Status Decoder::readStrings()
{
    const Value &header = m_header.at("tables").toList().back();
    const StringTable table;
    const std::size_t rows = m_rows.back();
    const Value::List &columns = header.at("columns").toList();
    const std::int64_t offset = header.at("text_offset").toInt(-1);
    const std::int64_t bytes = header.at("text_bytes").toInt(-1);
    if (columns.size() != 1 || offset < 0 || bytes < 0 || static_cast<std::uint64_t>(bytes) > m_data.size() ||
        static_cast<std::uint64_t>(offset) > m_data.size() - static_cast<std::uint64_t>(bytes))
        return damaged(fmt::format("{} bytes of strings at {}", bytes, offset));
    const auto where = place(columns[0], table.columns[0], rows);
    if (!where)
        return where.status();
    // A width of 0 says nothing about how many rows there may be: each string but the first has a byte.
    if (rows > static_cast<std::uint64_t>(bytes) + 1)
        return damaged(fmt::format("{} strings in {} bytes", rows, bytes));
    std::vector<std::uint32_t> lengths(rows);
    unpack(Type::u32, m_data.data() + where->offset, where->base, where->width,
           {reinterpret_cast<const std::byte *>(lengths.data()), rows, sizeof(std::uint32_t)});
    const std::string_view text(reinterpret_cast<const char *>(m_data.data()) + offset,
                                static_cast<std::size_t>(bytes));
    return m_tables.strings.assign(text, lengths) ? Status::ok() : damaged("the strings do not add up");
}

Status Decoder::readTables()
{
    const Value::List &headers = m_header.at("tables").toList();
    for (std::size_t i = 0; i < kTables; ++i)
        if (Status status = readTable(tables()[i], headers[i]); !status)
            return status.prefixed(tables()[i].name);
    return Status::ok();
}

Status Decoder::readTable(const TableInfo &table, const Value &header)
{
    const std::vector<Stored> columns = storedColumns(table);
    const auto rows = static_cast<std::size_t>(header.at("rows").toInt());
    const Value::List &headers = header.at("columns").toList();
    if (headers.size() != columns.size())
        return otherVersion(fmt::format("{} columns, not {}", headers.size(), columns.size()));
    std::vector<Place> places;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        auto where = place(headers[i], columns[i], rows);
        if (!where)
            return where.status();
        places.push_back(*where);
    }
    std::byte *data = table.resize(m_tables, rows);
    std::vector<Bounds> bounds(columns.size());
    for (std::size_t begin = 0; begin < rows; begin += kBlockRows)
        for (std::size_t i = 0; i < columns.size(); ++i)
            bounds[i].include(unpack(
                columns[i].type, m_data.data() + places[i].offset + begin * places[i].width, places[i].base,
                places[i].width, block(data, table.rowSize, columns[i].offset, begin, rows)));
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (Status status = checkBounds(columns[i], bounds[i]); !status)
            return status;
    return Status::ok();
}

Status Decoder::checkBounds(const Stored &column, const Bounds &bounds) const
{
    if (bounds.isEmpty())
        return Status::ok();
    std::int64_t low = 0;
    std::uint64_t end = 0; // one above the highest
    switch (column.type) {
    case Type::u8:
        end = column.limit;
        break;
    case Type::i8:
        low = -1;
        end = 2;
        break;
    case Type::u32:
    case Type::range:
        end = std::uint64_t(1) << 32U;
        break;
    case Type::id:
        low = -1;
        end = limitOf(column.target);
        break;
    case Type::row:
        end = limitOf(column.target);
        break;
    case Type::i64:
    case Type::u64:
    case Type::f64:
        return Status::ok();
    }
    if (bounds.low < low || bounds.high >= static_cast<std::int64_t>(end))
        return damaged(fmt::format("column {} has values from {} to {}, allowed are {} to below {}",
                                   column.name, bounds.low, bounds.high, low, end));
    return Status::ok();
}

Status Decoder::checkRanges()
{
    for (std::size_t t = 0; t < kTables; ++t) {
        const TableInfo &table = tables()[t];
        const std::byte *data = table.data(m_tables);
        for (const Column &column : table.columns) {
            if (column.type != Type::range)
                continue;
            const std::uint64_t limit = limitOf(column.target);
            for (std::size_t i = 0; i < m_rows[t]; ++i) {
                const auto range = loadLittle<Range>(data + i * table.rowSize + column.offset);
                if (std::uint64_t(range.begin) + range.count > limit)
                    return damaged(fmt::format("{} row {}: {} {} to {} of {}", table.name, i, column.name,
                                               range.begin, std::uint64_t(range.begin) + range.count, limit));
            }
        }
    }
    return Status::ok();
}

Status Decoder::checkModules()
{
    if (!brokenChains(m_tables.modules).empty())
        return damaged("a module contains itself, or modules are nested too deep");
    if (!brokenChains(m_tables.moduleCalls).empty())
        return damaged("a module call contains itself, or calls are nested too deep");
    return checkTensors();
}

Status Decoder::checkTensors()
{
    constexpr std::uint32_t kMostSlots = 1U << 20U;
    const std::span<const std::int64_t> integers(m_tables.integers);
    for (const TensorRow &row : m_tables.tensors) {
        if (row.strides.count != 0 && row.strides.count != row.shape.count)
            return damaged(
                fmt::format("a tensor has {} strides and {} dimensions", row.strides.count, row.shape.count));
        if (!record_fields::isPossibleShape(integers.subspan(row.shape.begin, row.shape.count)))
            return damaged(
                fmt::format("a tensor of {} dimensions has a shape that cannot be", row.shape.count));
    }
    for (const OpRow &row : m_tables.ops)
        if (row.slot >= kMostSlots)
            return damaged(fmt::format("an op's output {} of at most {}", row.slot, kMostSlots));
    return Status::ok();
}

void Decoder::readFacts(IndexFacts &facts)
{
    facts.segments = static_cast<std::uint64_t>(m_header.at("segments").toInt());
    // As often as they were noted; a header may say anything, and each costs time.
    std::int64_t left = 100'000;
    const Value::List &notes = m_header.at("notes").toList();
    for (const Value &each : std::span(notes).first(std::min(notes.size(), kMostNotes))) {
        const Value::List &note = each.toList();
        if (note.size() != 3)
            continue;
        for (std::int64_t times = note[2].toInt(1); times > 0 && left > 0; --times, --left)
            facts.notes.add(note[0].toString(), note[1].toString());
    }
    TraceInfo &info = m_tables.info;
    info.hasBackward = m_header.at("has_backward").toBool();
    const auto row = [this](std::string_view key, std::size_t limit) {
        const std::int64_t value = m_header.at(key).toInt(-1);
        return value >= 0 && static_cast<std::uint64_t>(value) < limit ? static_cast<std::uint32_t>(value)
                                                                       : kNoRecord;
    };
    info.failure.call = row("failure_call", m_tables.calls.size());
    info.failure.stack = row("failure_stack", m_tables.stacks.size());
    info.failure.label = m_header.at("failure_label").toString();
}

} // namespace

std::vector<std::byte> encodeIndex(const TraceTables &tables, const IndexFacts &facts)
{
    std::size_t end = 0;
    std::vector<std::vector<Stored>> columns;
    std::vector<std::vector<Place>> places;
    Value list = Value::list();
    for (const TableInfo &table : index_schema::tables()) {
        columns.push_back(storedColumns(table));
        places.push_back(plan(table.data(tables), table.rows(tables), table.rowSize, columns.back(), end));
        list.append(describe(table.name, table.rows(tables), columns.back(), places.back()));
    }
    const StringTable strings = lengthsOf(tables.strings);
    const auto *lengths = reinterpret_cast<const std::byte *>(strings.lengths.data());
    const auto stringPlaces =
        plan(lengths, strings.lengths.size(), sizeof(std::uint32_t), strings.columns, end);
    list.append(describe("strings", strings.lengths.size(), strings.columns, stringPlaces));
    const std::size_t textOffset = end;
    list.asList().back().set("text_offset", textOffset);
    list.asList().back().set("text_bytes", strings.bytes);
    Value header = headerFacts(tables, facts);
    header.set("tables", std::move(list));
    const std::string headerText = toJson(header);

    const std::size_t dataStart = aligned(16 + headerText.size());
    std::vector<std::byte> bytes(dataStart + textOffset + strings.bytes);
    std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
    const std::uint64_t length = headerText.size();
    std::memcpy(bytes.data() + 8, &length, sizeof length);
    std::memcpy(bytes.data() + 16, headerText.data(), headerText.size());
    std::byte *data = bytes.data() + dataStart;
    for (std::size_t i = 0; i < kTables; ++i) {
        const TableInfo &table = index_schema::tables()[i];
        packTable(table.data(tables), table.rows(tables), table.rowSize, columns[i], places[i], data);
    }
    packTable(lengths, strings.lengths.size(), sizeof(std::uint32_t), strings.columns, stringPlaces, data);
    std::byte *text = data + textOffset;
    for (std::size_t i = 0; i < tables.strings.size(); ++i) {
        const std::string_view string = tables.strings.view(StringId(i));
        if (!string.empty())
            std::memcpy(text, string.data(), string.size());
        text += string.size();
    }
    return bytes;
}

Result<TraceTables> decodeIndex(std::span<const std::byte> bytes, std::string_view name, IndexFacts &facts)
{
    return Decoder(bytes, name).run(facts);
}

} // namespace core
