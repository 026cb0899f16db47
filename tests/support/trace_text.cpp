// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/trace_text.h"

#include "core/analysis/tensor_stats.h"
#include "core/trace/trace_builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <set>
#include <sstream>

namespace tests {
namespace {

using namespace core;

[[noreturn]] void mistake(const std::string &line, const std::string &what)
{
    std::fprintf(stderr, "trace text: %s in: %s\n", what.c_str(), line.c_str());
    std::abort();
}

class MemoryStore final : public TensorStore
{
public:
    std::vector<std::byte> bytes;

    Status read(std::string_view, std::uint64_t offset, std::span<std::byte> out) const override
    {
        if (offset > bytes.size() || out.size() > bytes.size() - offset)
            return {ErrorCode::unreadable, "the text's values end before that range"};
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
        return Status::ok();
    }
    std::span<const std::byte> view(std::string_view, std::uint64_t offset,
                                    std::uint64_t length) const override
    {
        return offset + length <= bytes.size() ? std::span(bytes).subspan(offset, length)
                                               : std::span<const std::byte>();
    }
    Result<std::string> text(std::string_view, std::uint64_t) const override
    {
        return Status(ErrorCode::notFound, "the text has no sources");
    }
};

std::uint16_t halfBits(double value)
{
    if (std::isnan(value))
        return 0x7e00;
    const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520.0)
        return sign | 0x7c00;
    if (magnitude < std::ldexp(1.0, -14))
        return static_cast<std::uint16_t>(sign | static_cast<int>(std::lround(std::ldexp(magnitude, 24))));
    int exponent = 0;
    const double fraction = std::frexp(magnitude, &exponent); // [0.5, 1)
    return static_cast<std::uint16_t>(sign |
                                      (((exponent + 14) << 10) + std::lround((fraction * 2 - 1) * 1024)));
}

template <class T>
void append(std::vector<std::byte> &bytes, T value)
{
    const auto raw = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
}

void appendElement(std::vector<std::byte> &bytes, DType dtype, double value)
{
    switch (dtype) {
    case DType::float64:
    case DType::complex128:
        return append(bytes, value);
    case DType::float32:
    case DType::complex64:
        return append(bytes, static_cast<float>(value));
    case DType::float16:
    case DType::complex32:
        return append(bytes, halfBits(value));
    case DType::bfloat16:
        return append(
            bytes,
            static_cast<std::uint16_t>(
                std::isnan(value) ? 0x7fc0 : std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16));
    case DType::int64:
        return append(bytes, static_cast<std::int64_t>(value));
    case DType::int32:
        return append(bytes, static_cast<std::int32_t>(value));
    case DType::int16:
        return append(bytes, static_cast<std::int16_t>(value));
    default:
        return append(bytes, static_cast<std::int8_t>(value));
    }
}

std::vector<std::string> splitOn(const std::string &text, char separator)
{
    std::vector<std::string> parts;
    std::stringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

double number(const std::string &word)
{
    if (word == "nan")
        return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf" || word == "-inf")
        return word[0] == '-' ? -std::numeric_limits<double>::infinity()
                              : std::numeric_limits<double>::infinity();
    return std::strtod(word.c_str(), nullptr);
}

bool isNumber(const std::string &word)
{
    char *end = nullptr;
    std::strtod(word.c_str(), &end);
    return !word.empty() && *end == '\0';
}

class Reader
{
public:
    explicit Reader(std::string_view text)
    {
        m_builder.info().status = TraceStatus::finished;
        m_builder.info().modelName = "model";
        std::stringstream lines{std::string(text)};
        for (m_line = {}; std::getline(lines, m_line);) {
            m_line = m_line.substr(0, m_line.find('#'));
            std::stringstream words(m_line);
            m_words.clear();
            for (std::string word; words >> word;)
                m_words.push_back(word);
            if (!m_words.empty())
                statement();
        }
    }

    std::shared_ptr<const Trace> finish()
    {
        finishModuleCalls();
        auto trace = m_builder.finish(m_store, JobContext());
        if (!trace)
            mistake("(end)", trace.error().message());
        return *trace;
    }

private:
    struct Spec
    {
        std::string name;
        TensorRecord record;
    };
    struct OpenCall
    {
        RecordId call = kNoRecord;
        ModuleCallRecord record;
    };

    void check(const Status &status)
    {
        if (!status)
            mistake(m_line, status.message());
    }

    // "NAME:f32[2,3]=1,2" or, without a name, "f32[2,3]=1,2".
    Spec tensorSpec(std::string word, bool statsOnly)
    {
        Spec spec;
        const auto equals = word.find('=');
        const std::string values = equals == std::string::npos ? "" : word.substr(equals + 1);
        std::string head = word.substr(0, equals);
        if (const auto colon = head.rfind(':'); colon != std::string::npos) {
            spec.name = head.substr(0, colon);
            head = head.substr(colon + 1);
        }
        const auto bracket = head.find('[');
        const auto dtype = dtypeFromName(head.substr(0, bracket));
        if (!dtype || bracket == std::string::npos)
            mistake(m_line, "no tensor: " + word);
        TensorRecord &record = spec.record;
        record.id = m_nextTensor++;
        record.dtype = *dtype;
        std::int64_t count = 1;
        for (const std::string &size : splitOn(head.substr(bracket + 1, head.find(']') - bracket - 1), ',')) {
            record.shape.push_back(std::stoll(size));
            count *= record.shape.back();
        }
        record.payload.state = PayloadState::notSaved;
        if (equals != std::string::npos)
            storeValues(record, values, count, statsOnly);
        return spec;
    }

    void storeValues(TensorRecord &record, const std::string &text, std::int64_t count, bool statsOnly)
    {
        std::vector<double> values;
        for (const std::string &item : splitOn(text, ',')) {
            const auto star = item.find('*');
            const double value = number(star == std::string::npos ? item : item.substr(star + 1));
            values.insert(values.end(), star == std::string::npos ? 1 : std::stoul(item), value);
        }
        const std::int64_t parts = isComplex(record.dtype) ? 2 * count : count;
        std::vector<std::byte> bytes;
        for (std::int64_t i = 0; i < parts; ++i)
            appendElement(bytes, record.dtype,
                          values.empty() ? 0.0
                                         : values[std::min(values.size() - 1, static_cast<std::size_t>(i))]);
        if (statsOnly) {
            record.stats = computeStats(record.dtype, bytes.data(), static_cast<std::size_t>(count));
            return;
        }
        record.payload = {PayloadState::saved, "values", m_store->bytes.size(), bytes.size(), true};
        m_store->bytes.insert(m_store->bytes.end(), bytes.begin(), bytes.end());
    }

    RecordId named(const std::string &name)
    {
        const auto found = m_tensors.find(name);
        if (found == m_tensors.end())
            mistake(m_line, "unknown tensor " + name);
        return found->second;
    }

    RecordId stackAt(const std::string &place)
    {
        FrameRecord frame;
        frame.id = m_nextFrame++;
        const auto colon = place.rfind(':');
        frame.file = place.substr(0, colon);
        frame.line = static_cast<std::uint32_t>(std::stoul(place.substr(colon + 1)));
        frame.function = "forward";
        StackRecord stack;
        stack.id = m_nextStack++;
        stack.frames = {frame.id};
        check(m_builder.add(frame));
        check(m_builder.add(stack));
        return stack.id;
    }

    RecordId moduleId(const std::string &address)
    {
        const auto found = m_modules.find(address);
        if (found != m_modules.end())
            return found->second;
        ModuleRecord record;
        const auto dot = address.rfind('.');
        record.parent =
            address.empty() ? kNoRecord : moduleId(dot == std::string::npos ? "" : address.substr(0, dot));
        record.id = static_cast<RecordId>(m_modules.size());
        record.address = address;
        record.className = "Module";
        m_modules[address] = record.id;
        check(m_builder.add(record));
        return record.id;
    }

    // The open call INDEX of module ADDRESS; made, with its parents, when there is none yet.
    RecordId moduleCall(const std::string &address, std::uint32_t index)
    {
        const std::string key = address + ":" + std::to_string(index);
        if (const auto found = m_calls.find(key); found != m_calls.end())
            return found->second;
        const auto dot = address.rfind('.');
        ModuleCallRecord record;
        if (!address.empty())
            record.parent = moduleCall(dot == std::string::npos ? "" : address.substr(0, dot), 1);
        record.id = static_cast<RecordId>(m_calls.size());
        record.module = moduleId(address);
        record.index = index;
        m_calls[key] = record.id;
        m_callRecords[record.id] = record;
        return record.id;
    }

    void place(CallRecord &call)
    {
        std::vector<std::string> kept;
        for (std::size_t i = 0; i < m_words.size(); ++i) {
            const std::string &word = m_words[i];
            if (word[0] == '@') {
                call.stack = stackAt(word.substr(1));
            } else if (word == "in" && i + 1 < m_words.size()) {
                const std::string where = m_words[++i];
                const auto colon = where.find(':');
                call.moduleCall =
                    moduleCall(where.substr(0, colon),
                               colon == std::string::npos
                                   ? 1
                                   : static_cast<std::uint32_t>(std::stoul(where.substr(colon + 1))));
            } else if (word.starts_with("time=")) {
                call.durationNs = std::stoll(word.substr(5));
            } else {
                kept.push_back(word);
            }
        }
        m_words = kept;
    }

    void addOutput(CallRecord &call, Spec spec)
    {
        spec.record.call = call.id;
        spec.record.slot = static_cast<std::uint32_t>(call.outputs.size());
        call.outputs.push_back(spec.record.id);
        if (!spec.name.empty()) {
            m_tensors[spec.name] = spec.record.id;
            m_callOf[spec.name] = call.id;
        }
        m_made[spec.record.id] = call.moduleCall;
        m_records[spec.record.id] = spec.record;
        check(m_builder.add(spec.record));
    }

    void pseudo(CallKind kind)
    {
        CallRecord call;
        call.id = m_nextCall++;
        call.kind = kind;
        call.op = call.func = "none";
        place(call);
        const bool statsOnly = m_words.back() == "!stats";
        if (kind == CallKind::output) {
            const RecordId source = named(m_words.at(1));
            call.parents = {source};
            TensorRecord returned = m_records.at(source);
            returned.id = m_nextTensor++;
            returned.call = call.id;
            returned.slot = 0;
            call.outputs = {returned.id};
            check(m_builder.add(returned));
            m_used.insert({source, kNoRecord});
        } else {
            Spec spec = tensorSpec(m_words.at(1), statsOnly);
            spec.record.address = call.address = spec.name;
            spec.record.role = kind == CallKind::input ? TensorRole::input : TensorRole::buffer;
            if (m_words.size() > 3 && m_words[2] == "of")
                call.parents = {named(m_words[3])};
            addOutput(call, spec);
        }
        check(m_builder.add(call));
    }

    void parameter(bool isBuffer)
    {
        Spec spec = tensorSpec(m_words.at(1), m_words.back() == "!stats");
        spec.record.address = spec.name;
        spec.record.role = isBuffer ? TensorRole::buffer : TensorRole::parameter;
        m_tensors[spec.name] = spec.record.id;
        ParamRecord record;
        record.id = m_nextParam++;
        record.isBuffer = isBuffer;
        record.address = spec.name;
        record.tensor = spec.record.id;
        record.trainable = !isBuffer;
        check(m_builder.add(spec.record));
        check(m_builder.add(record));
    }

    void argument(CallRecord &call, std::string word)
    {
        ArgumentRecord out;
        if (const auto equals = word.find('='); equals != std::string::npos) {
            out.name = word.substr(0, equals);
            word = word.substr(equals + 1);
        }
        if (m_tensors.contains(word)) {
            out.tensors = {m_tensors[word]};
            if (std::find(call.parents.begin(), call.parents.end(), out.tensors[0]) == call.parents.end())
                call.parents.push_back(out.tensors[0]);
            m_used.insert({out.tensors[0], call.moduleCall});
        } else if (word.starts_with("[")) {
            Value list = Value::list();
            for (const std::string &item : splitOn(word.substr(1, word.size() - 2), ','))
                list.append(static_cast<std::int64_t>(std::stoll(item)));
            out.value = list;
        } else if (isNumber(word) && word.find_first_of(".ein") == std::string::npos) {
            out.value = static_cast<std::int64_t>(std::stoll(word));
        } else {
            out.value = isNumber(word) ? Value(number(word)) : Value(word);
        }
        call.arguments.push_back(out);
    }

    void compute()
    {
        CallRecord call;
        call.id = m_nextCall++;
        place(call);
        const bool statsOnly = m_words.back() == "!stats";
        if (statsOnly)
            m_words.pop_back();
        const auto arrow = std::find(m_words.begin(), m_words.end(), "->");
        const std::string &name = m_words.front();
        call.func = name.substr(0, name.find('.'));
        call.op = "aten." + (name.find('.') == std::string::npos ? name + ".default" : name);
        call.inPlace = call.func.ends_with('_') && !call.func.ends_with("__");
        for (auto word = m_words.begin() + 1; word != arrow; ++word)
            argument(call, *word);
        for (auto word = arrow; word != m_words.end(); ++word)
            if (*word != "->")
                addOutput(call, tensorSpec(*word, statsOnly));
        check(m_builder.add(call));
    }

    void gradNode()
    {
        GradNodeRecord record;
        record.id = nodeId(m_words.at(1));
        record.className = m_words.at(2);
        for (std::size_t i = 3; i < m_words.size(); ++i) {
            if (m_words[i].starts_with("next="))
                for (const std::string &next : splitOn(m_words[i].substr(5), ','))
                    record.next.push_back({nodeId(next), 0});
            else if (m_words[i].starts_with("leaf="))
                record.parameter = m_words[i].substr(5);
            else if (m_words[i] == "of")
                record.call = m_callOf.at(m_words.at(++i));
        }
        check(m_builder.add(record));
    }

    RecordId nodeId(const std::string &name)
    {
        return m_nodes.try_emplace(name, m_nodes.size()).first->second;
    }

    std::vector<RecordId> gradientList(const std::string &text)
    {
        std::vector<RecordId> list;
        for (const std::string &word : splitOn(text, '+')) {
            if (word == "none") {
                list.push_back(kNoRecord);
                continue;
            }
            const bool statsOnly = word.ends_with('!');
            Spec spec = tensorSpec(statsOnly ? word.substr(0, word.size() - 1) : word, statsOnly);
            spec.record.role = TensorRole::gradient;
            check(m_builder.add(spec.record));
            list.push_back(spec.record.id);
        }
        return list;
    }

    void backward()
    {
        BackwardRecord record;
        record.id = m_backward = m_nextBackward++;
        record.index = record.id + 1;
        for (const std::string &word : m_words) {
            if (word.starts_with("loss="))
                record.loss = named(word.substr(5));
            if (word.starts_with("scale="))
                record.lossScale = number(word.substr(6));
            if (word.starts_with("roots="))
                for (const std::string &root : splitOn(word.substr(6), ','))
                    record.roots.push_back(nodeId(root));
        }
        check(m_builder.add(record));
    }

    void fire()
    {
        GradFireRecord record;
        record.id = m_nextFire++;
        record.backward = m_backward;
        record.order = record.id;
        record.node = nodeId(m_words.at(1));
        record.payloadsRecorded = m_words.size() > 2;
        for (const std::string &word : m_words) {
            if (word.starts_with("arriving="))
                record.arriving = gradientList(word.substr(9));
            if (word.starts_with("emitted="))
                record.emitted = gradientList(word.substr(8));
        }
        check(m_builder.add(record));
    }

    void gradient()
    {
        GradientRecord record;
        record.backward = m_backward;
        if (m_words.size() > 2 && m_words[2] == "none") {
            record.tensor = named(m_words[1]);
        } else {
            Spec spec = tensorSpec(m_words.at(1), false);
            spec.record.role = TensorRole::gradient;
            record.tensor = named(spec.name);
            record.gradient = spec.record.id;
            check(m_builder.add(spec.record));
        }
        check(m_builder.add(record));
    }

    void statement()
    {
        const std::string &word = m_words.front();
        if (word == "status")
            setStatus(m_words.at(1));
        else if (word == "imported")
            m_builder.info().source = TraceSource::torchLens;
        else if (word == "input")
            pseudo(CallKind::input);
        else if (word == "output")
            pseudo(CallKind::output);
        else if (word == "bufferrow")
            pseudo(CallKind::buffer);
        else if (word == "param" || word == "buffer")
            parameter(word == "buffer");
        else if (word == "node")
            gradNode();
        else if (word == "backward")
            backward();
        else if (word == "fire")
            fire();
        else if (word == "grad")
            gradient();
        else
            compute();
    }

    void setStatus(const std::string &name)
    {
        for (const TraceStatus status :
             {TraceStatus::unknown, TraceStatus::finished, TraceStatus::stoppedAtNonFinite,
              TraceStatus::cancelled, TraceStatus::failed, TraceStatus::crashed})
            if (traceStatusName(status) == name)
                m_builder.info().status = status;
    }

    bool isInside(RecordId call, RecordId module)
    {
        for (; call != kNoRecord; call = m_callRecords[call].parent)
            if (call == module)
                return true;
        return false;
    }

    // A tensor leaves a module call when something outside of it uses it.
    void finishModuleCalls()
    {
        for (auto &[id, record] : m_callRecords) {
            for (const auto &[tensor, user] : m_used) {
                const auto made = m_made.find(tensor);
                if (made != m_made.end() && isInside(made->second, id) && !isInside(user, id) &&
                    std::find(record.outputs.begin(), record.outputs.end(), tensor) == record.outputs.end())
                    record.outputs.push_back(tensor);
            }
            check(m_builder.add(record));
        }
    }

    TraceBuilder m_builder;
    std::shared_ptr<MemoryStore> m_store = std::make_shared<MemoryStore>();
    std::string m_line;
    std::vector<std::string> m_words;
    std::map<std::string, RecordId> m_tensors, m_modules, m_calls, m_nodes, m_callOf;
    std::map<RecordId, ModuleCallRecord> m_callRecords;
    std::map<RecordId, RecordId> m_made; // tensor -> module call
    std::map<RecordId, TensorRecord> m_records;
    std::set<std::pair<RecordId, RecordId>> m_used;
    RecordId m_nextTensor = 0, m_nextFrame = 0, m_nextStack = 0, m_nextCall = 0, m_nextParam = 0,
             m_nextFire = 0, m_nextBackward = 0, m_backward = kNoRecord;
};

} // namespace

std::shared_ptr<const core::Trace> traceFromText(std::string_view text)
{
    return Reader(text).finish();
}

core::OpId opNamed(const core::Trace &trace, std::string_view prefix)
{
    for (const core::OpId op : trace.orderedOps())
        if (trace.label(op).starts_with(prefix))
            return op;
    return {};
}

} // namespace tests
