// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/tripwire.h"

#include "core/capture_torch/torch_dtype.h"

#include <algorithm>
#include <unordered_map>

namespace core {

namespace {

struct Memory
{
    const c10::StorageImpl *storage;
    ByteRange range;

    bool overlaps(const at::Tensor &tensor) const
    {
        return tensor.defined() && tensor.has_storage() &&
               tensor.storage().unsafeGetStorageImpl() == storage && hasBytes(tensor) &&
               byteRange(tensor).overlaps(range);
    }
    bool overlaps(const std::vector<c10::IValue> &values) const
    {
        bool any = false;
        for (const c10::IValue &value : values)
            forEachTensor(value, [&](const at::Tensor &tensor) { any = any || overlaps(tensor); });
        return any;
    }
};

// TENSOR has bytes.
Memory memoryOf(const at::Tensor &tensor)
{
    return {tensor.storage().unsafeGetStorageImpl(), byteRange(tensor)};
}

} // namespace

std::size_t bytesOf(const std::vector<c10::IValue> &values)
{
    std::size_t bytes = 0;
    for (const c10::IValue &value : values)
        forEachTensor(
            value, [&bytes](const at::Tensor &tensor) { bytes += hasBytes(tensor) ? tensor.nbytes() : 0; });
    return bytes;
}

bool canRunAgain(const OpFacts &facts, std::span<const c10::IValue> results)
{
    const auto isTensor = [](const c10::IValue &value) { return value.isTensor(); };
    return !facts.writes && !facts.view && !facts.uninitialised && !results.empty() &&
           std::all_of(results.begin(), results.end(), isTensor);
}

bool Tripwire::look(const at::Tensor &tensor, TensorRecord &record, const FiniteWatch::Forecast &forecast,
                    bool first)
{
    const bool bad = !m_tripped && !m_watch.isFinite(tensor, forecast, first);
    if (bad)
        m_saver.measure(tensor, record);
    return bad;
}

void Tripwire::trip(const at::Tensor &tensor, TensorRecord &record)
{
    m_out.note(m_saver.save(tensor, true, record));
    m_tripped = true;
}

void Tripwire::hold(const at::Tensor &tensor, const TensorRecord &record, std::optional<std::size_t> slot)
{
    if (record.stats || !hasBytes(tensor))
        return;
    Held held;
    held.id = record.id;
    held.call = m_callCount;
    held.slot = slot;
    held.tensor = tensor.requires_grad() ? tensor.detach() : tensor;
    held.storage = tensor.storage().unsafeGetStorageImpl();
    held.range = byteRange(tensor);
    held.dtype = record.dtype;
    held.shape = record.shape;
    m_pool.bytes += tensor.nbytes();
    m_held.push_back(std::move(held));
}

// Ids of rows grow.
std::optional<Tripwire::Remade> Tripwire::remade(RecordId id) const
{
    const auto held = std::lower_bound(m_held.begin(), m_held.end(), id,
                                       [](const Held &each, RecordId wanted) { return each.id < wanted; });
    if (held == m_held.end() || held->id != id || held->remadeBy == nullptr)
        return std::nullopt;
    return Remade{held->remadeBy, *held->slot};
}

void Tripwire::callEnded(Recipe recipe, std::vector<c10::IValue> inputs)
{
    recipe.inputs = std::move(inputs);
    const auto call = std::make_shared<Call>(m_callCount++, std::move(recipe), m_pool);
    const bool remakes = call->canRun() && isWorthRemaking(*call);
    for (auto held = m_held.rbegin(); remakes && held != m_held.rend() && held->call == call->number; ++held)
        if (held->slot)
            leaveToRecipe(*held, call);
    m_calls.push_back(call);
    // An output that is held is overwritten by the next op or mostly never: what its call read is not kept
    // alive for longer.
    constexpr std::size_t kWaits = 4;
    if (m_calls.size() > kWaits)
        if (std::shared_ptr<Call> &old = m_calls[m_calls.size() - 1 - kWaits]; old.use_count() == 1)
            old->end({});
    while (!m_held.empty() && m_held.front().call + kCalls < m_callCount) {
        if (m_held.front().tensor.defined())
            m_pool.bytes -= m_held.front().tensor.nbytes();
        m_held.pop_front();
    }
    if (m_calls.size() > kCalls)
        m_calls.pop_front();
    for (Held &old : m_held) {
        if (m_pool.bytes <= kBytes)
            break;
        measure(old);
    }
}

// Whether what CALL reads costs less memory than what it made, and making it again little time.
bool Tripwire::isWorthRemaking(const Call &call) const
{
    constexpr std::size_t kLarge = std::size_t(8) << 20;
    constexpr std::size_t kDepth = 8;
    std::size_t made = 0;
    for (auto held = m_held.rbegin(); held != m_held.rend() && held->call == call.number; ++held)
        if (held->slot && held->tensor.defined())
            made += held->tensor.nbytes();
    return call.depth < kDepth && made <= kLarge && call.recipe.bytes <= 2 * made;
}

void Tripwire::leaveToRecipe(Held &held, std::shared_ptr<Call> call)
{
    m_pool.bytes -= held.tensor.nbytes();
    held.tensor.reset();
    held.remadeBy = std::move(call);
}

std::shared_ptr<Tripwire::Call> Tripwire::callOf(const Held &held) const
{
    const std::size_t first = m_callCount - m_calls.size();
    return !held.slot || held.call < first || held.call >= m_callCount ? nullptr : m_calls[held.call - first];
}

Tripwire::Call::Call(std::size_t callNumber, Recipe made, Pool &all)
    : number(callNumber), recipe(std::move(made)), pool(all)
{
    if (!recipe.op)
        recipe = Recipe();
    // Lists are copied: a script may change them.
    for (c10::IValue &input : recipe.inputs)
        if (input.isList())
            input = input.toList().copy();
    for (const Recipe::Operand &operand : recipe.operands) {
        depth = std::max(depth, operand.from.call->depth + 1);
        c10::IValue &input = recipe.inputs[operand.argument];
        if (input.isList())
            input.toList().set(operand.item, at::Tensor());
        else
            input = c10::IValue();
    }
    for (const c10::IValue &input : recipe.inputs)
        forEachTensor(input, [this](const at::Tensor &tensor) {
            if (hasBytes(tensor))
                storages.push_back(tensor.storage().unsafeGetStorageImpl());
        });
    pool.bytes += recipe.bytes;
    pool.living.push_back(this);
}

Tripwire::Call::~Call()
{
    pool.bytes -= recipe.bytes;
    std::erase(pool.living, this);
}

void Tripwire::Call::end(std::vector<c10::IValue> results)
{
    pool.bytes -= recipe.bytes;
    values = std::move(results);
    recipe = Recipe();
    storages.clear();
    recipe.bytes = bytesOf(values);
    pool.bytes += recipe.bytes;
}

bool Tripwire::Call::reads(const at::Tensor &tensor) const
{
    const Memory memory = memoryOf(tensor);
    return shares(memory.storage) && memory.overlaps(recipe.inputs);
}

bool Tripwire::Call::shares(const c10::StorageImpl *storage) const
{
    return std::find(storages.begin(), storages.end(), storage) != storages.end();
}

// Runs calls again, those that they build upon first. A result is kept until the last call that reads it has
// run.
class Tripwire::Rerun
{
public:
    // It will be asked once for the results of each of CALLS.
    explicit Rerun(std::span<const Call *const> calls)
    {
        for (const Call *const call : calls)
            count(*call);
    }

    // The results of CALL; none if it raised (there was no memory for it).
    std::vector<c10::IValue> results(const Call &call)
    {
        run(call);
        return take(call);
    }

private:
    void count(const Call &call)
    {
        if (m_uses[&call]++ == 0)
            for (const Recipe::Operand &operand : call.recipe.operands)
                count(*operand.from.call);
    }

    // What CALL gave, for one of those who read it.
    std::vector<c10::IValue> take(const Call &call)
    {
        const auto made = m_results.find(&call);
        if (--m_uses[&call] > 0)
            return made->second;
        std::vector<c10::IValue> last = std::move(made->second);
        m_results.erase(made);
        return last;
    }

    void run(const Call &call)
    {
        if (m_results.contains(&call))
            return;
        if (!call.values.empty()) {
            m_results[&call] = call.values;
            return;
        }
        std::vector<c10::IValue> stack = call.recipe.inputs;
        bool complete = call.recipe.op.has_value();
        for (const Recipe::Operand &operand : call.recipe.operands) {
            run(*operand.from.call);
            std::vector<c10::IValue> made = take(*operand.from.call);
            complete = complete && operand.from.slot < made.size();
            if (complete)
                put(stack[operand.argument], operand, made[operand.from.slot].toTensor(),
                    call.recipe.written == operand.argument);
        }
        try {
            if (complete)
                call.recipe.op->callBoxed(&stack);
        } catch (const std::exception &) {
            complete = false;
        }
        if (!complete)
            stack.clear();
        m_results[&call] = std::move(stack);
    }

    static void put(c10::IValue &input, const Recipe::Operand &operand, const at::Tensor &value,
                    bool isWritten)
    {
        if (input.isList()) {
            input = input.toList().copy();
            input.toList().set(operand.item, value);
        } else {
            input = isWritten ? value.clone() : value;
        }
    }

    std::unordered_map<const Call *, std::size_t> m_uses;
    std::unordered_map<const Call *, std::vector<c10::IValue>> m_results;
};

void Tripwire::measure(Held &held)
{
    if (held.remadeBy != nullptr) {
        Held *const one = &held;
        remake(std::span(&one, 1));
    }
    if (!held.tensor.defined())
        return;
    TensorRecord record;
    record.dtype = held.dtype;
    m_saver.measure(held.tensor, record);
    held.stats = record.stats;
    m_pool.bytes -= held.tensor.nbytes();
    held.tensor.reset();
}

void Tripwire::remake(std::span<Held *const> helds)
{
    std::vector<std::shared_ptr<Call>> calls; // they may be all that keeps these
    std::vector<const Call *> asked;
    for (const Held *const held : helds)
        if (calls.empty() || calls.back() != held->remadeBy) {
            calls.push_back(held->remadeBy);
            asked.push_back(held->remadeBy.get());
        }
    Rerun rerun(asked);
    std::size_t next = 0;
    for (const std::shared_ptr<Call> &call : calls) {
        const std::vector<c10::IValue> results = rerun.results(*call);
        for (; next < helds.size() && helds[next]->remadeBy == call; ++next) {
            Held &held = *helds[next];
            held.remadeBy.reset();
            if (*held.slot >= results.size())
                continue; // its statistics stay unknown
            TensorRecord record;
            record.dtype = held.dtype;
            m_saver.measureAlone(results[*held.slot].toTensor(), record);
            held.stats = record.stats;
        }
    }
}

void Tripwire::runNow(Call &call)
{
    const Call *const self = &call;
    std::vector<c10::IValue> results = Rerun(std::span(&self, 1)).results(call);
    for (c10::IValue &result : results) {
        const at::Tensor &tensor = result.toTensor();
        if (hasBytes(tensor) && call.shares(memoryOf(tensor).storage))
            result = tensor.clone(); // an op may give back what it read
    }
    call.end(std::move(results));
}

void Tripwire::beforeWrite(const at::Tensor &tensor)
{
    if (!hasBytes(tensor))
        return;
    const Memory written = memoryOf(tensor);
    for (Held &held : m_held) {
        if (held.storage != written.storage || !held.tensor.defined() || !held.range.overlaps(written.range))
            continue;
        if (std::shared_ptr<Call> call = callOf(held);
            call != nullptr && call->canRun() && !call->reads(tensor))
            leaveToRecipe(held, std::move(call));
        else
            measure(held);
    }
    std::vector<std::shared_ptr<Call>> readers;
    for (Call *const call : m_pool.living)
        if (call->reads(tensor))
            readers.push_back(call->shared_from_this());
    for (const std::shared_ptr<Call> &call : readers) {
        const bool isWanted = call.use_count() > 2; // besides this list and the last calls
        if (isWanted)
            runNow(*call);
        else
            call->end({});
    }
}

void Tripwire::keep(const at::Tensor &tensor, RecordId id, bool withValues)
{
    if (std::find(m_kept.begin(), m_kept.end(), id) != m_kept.end())
        return;
    m_kept.push_back(id);
    TensorRecord record;
    record.id = id;
    m_saver.describe(tensor, record);
    m_saver.measure(tensor, record);
    m_out.note(m_saver.save(tensor, withValues, record));
    m_out.add(std::move(record));
}

void Tripwire::finish()
{
    std::erase_if(m_held, [this](const Held &held) {
        return std::find(m_kept.begin(), m_kept.end(), held.id) != m_kept.end();
    });
    std::vector<Held *> left;
    for (Held &held : m_held)
        if (held.remadeBy != nullptr)
            left.push_back(&held);
    remake(left);
    for (Held &held : m_held) {
        measure(held);
        if (!held.stats)
            continue;
        TensorRecord record;
        record.id = held.id;
        record.dtype = held.dtype;
        record.shape = std::move(held.shape);
        record.stats = held.stats;
        m_out.add(std::move(record));
    }
    m_held.clear();
}

} // namespace core
