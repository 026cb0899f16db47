// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/torch_checkpoint.h"

#include "core/base/utf8.h"
#include "core/io/pickle_value_text.h"
#include "core/io/torch_tensor.h"

#include <fmt/format.h>

#include <unordered_map>
#include <unordered_set>

namespace core {
namespace {

constexpr std::size_t kDeepestCheckpoint = 200;
constexpr std::size_t kVisits = 500'000;

std::string_view typeName(PickleValue value)
{
    switch (value.kind()) {
    case PickleKind::none:
        return "NoneType";
    case PickleKind::boolean:
        return "bool";
    case PickleKind::integer:
    case PickleKind::bigInteger:
        return "int";
    case PickleKind::real:
        return "float";
    case PickleKind::string:
        return "str";
    case PickleKind::bytes:
        return "bytes";
    case PickleKind::set:
        return "set";
    case PickleKind::frozenSet:
        return "frozenset";
    case PickleKind::global:
        return "type";
    default:
        return "object";
    }
}

// Depth first in the file's order. Shared values are visited at each place; the number of visits is bounded.
class CheckpointWalker
{
public:
    CheckpointWalker(const TorchFile &file, const JobContext &job, StateDict &state)
        : m_file(file), m_job(job), m_state(state)
    {
    }

    Status visit(PickleValue value, const std::string &path)
    {
        if (++m_visits > kVisits)
            return limit("too_many_values", fmt::format("more than {} values", kVisits));
        if (m_path.size() > kDeepestCheckpoint)
            return limit("nesting_too_deep",
                         fmt::format("values nested deeper than {} levels", kDeepestCheckpoint));
        if (m_visits % 1024 == 0)
            if (Status status = m_job.checkpoint("reading the checkpoint"); !status)
                return status;
        const auto tensor = torchTensor(m_file, value);
        if (!tensor)
            return tensor.status().prefixed(path);
        if (*tensor) {
            addTensor(**tensor, path, value.index());
            return Status::ok();
        }
        if (!m_path.insert(value.index()).second) {
            m_state.report.add("cycle", fmt::format("{}: '{}' contains itself", m_file.name(), path));
            return Status::ok();
        }
        Status status = visitOther(value, path);
        m_path.erase(value.index());
        return status;
    }

private:
    Status visitOther(PickleValue value, const std::string &path)
    {
        switch (value.kind()) {
        case PickleKind::dict:
            return visitPairs(value, path);
        case PickleKind::list:
        case PickleKind::tuple:
            return visitItems(value, path);
        case PickleKind::instance:
            return visitInstance(value, path);
        default:
            skip({path, std::string(typeName(value)), "not_a_tensor", pickleToValue(value), {}, 0});
            return Status::ok();
        }
    }

    Status visitPairs(PickleValue dict, const std::string &path)
    {
        for (const auto &[key, item] : picklePairs(dict)) {
            std::string name =
                key.is(PickleKind::string) ? cleanUtf8(key.text()) : toJson(pickleToValue(key));
            if (Status status = visit(item, path.empty() ? name : path + '/' + name); !status)
                return status;
        }
        return Status::ok();
    }

    Status visitItems(PickleValue list, const std::string &path)
    {
        const std::size_t count = list.size();
        for (std::size_t i = 0; i < count; ++i)
            if (Status status =
                    visit(list.item(i), path.empty() ? std::to_string(i) : fmt::format("{}/{}", path, i));
                !status)
                return status;
        return Status::ok();
    }

    Status visitInstance(PickleValue value, const std::string &path)
    {
        const std::string name = value.fullName();
        if (name == "collections.OrderedDict" || name == "collections.defaultdict" ||
            name == "collections.Counter")
            return value.dictItems().isValid() ? visitPairs(value.dictItems(), path) : Status::ok();
        const PickleValue state = value.state();
        if (value.isConstruction() && state.is(PickleKind::dict)) {
            const bool isScript = name.starts_with("__torch__.");
            if (!isScript)
                m_state.report.add("foreign_classes",
                                   fmt::format("{}: an object of class {} is read as its attributes",
                                               m_file.name(), cleanUtf8(name)));
            return visitModule(state, path.empty() || path.ends_with('.') ? path : path + '/', isScript);
        }
        const bool isKnown =
            name.starts_with("torch.") || name == "collections.OrderedDict" || name == "_codecs.encode" ||
            name.starts_with("numpy.") || name == "builtins.set" || name == "builtins.complex" ||
            name == "builtins.bytearray" || name == "builtins.slice" || name == "__builtin__.set";
        if (!isKnown)
            m_state.report.add("foreign_global", fmt::format("{}: '{}' would call {}, which is not done",
                                                             m_file.name(), path, cleanUtf8(name)));
        skip({path, cleanUtf8(name), "not_a_tensor", pickleToValue(value), {}, 0});
        return Status::ok();
    }

    // The attributes of a module: its tensors by name, its children by dotted prefix. An nn.Module keeps them
    // in three dictionaries, a TorchScript module directly.
    Status visitModule(PickleValue state, const std::string &prefix, bool isScript)
    {
        for (const std::string_view key : {"_parameters", "_buffers", "_modules"})
            for (const auto &[name, item] : picklePairs(state.find(key)))
                if (Status status = visitMember(item, prefix + cleanUtf8(name.text())); !status)
                    return status;
        if (!isScript && state.find("_modules").isValid())
            return Status::ok();
        for (const auto &[name, item] : picklePairs(state))
            if (Status status = visitMember(item, prefix + cleanUtf8(name.text())); !status)
                return status;
        return Status::ok();
    }

    Status visitMember(PickleValue item, const std::string &path)
    {
        const auto tensor = torchTensor(m_file, item);
        if (!tensor)
            return tensor.status().prefixed(path);
        const bool isObject = item.is(PickleKind::instance) && item.isConstruction();
        return *tensor || isObject ? visit(item, *tensor ? path : path + '.') : Status::ok();
    }

    void skip(StateSkipped entry)
    {
        entry.before = m_state.tensors.size();
        m_state.skipped.push_back(std::move(entry));
    }

    void addTensor(const TorchTensor &tensor, const std::string &path, std::uint32_t object)
    {
        if (!tensor.unreadable.empty()) {
            if (tensor.unreadable == "unknown_dtype" || tensor.unreadable == "missing_record")
                m_state.report.add(tensor.unreadable,
                                   fmt::format("{}: the values of {} cannot be read", m_file.name(), path));
            skip({path, std::string(dtypeName(tensor.values.dtype)), tensor.unreadable, Value(),
                  tensor.values.shape, 0});
            return;
        }
        StateTensor out;
        out.name = path;
        out.values = tensor.values;
        out.layout = tensor.layout;
        out.isParameter = tensor.isParameter;
        if (!tensor.storageKey.empty())
            out.storage =
                m_storages.emplace(tensor.storageKey, static_cast<int>(m_storages.size())).first->second;
        const auto place = static_cast<int>(m_state.tensors.size());
        if (const auto first = m_objects.emplace(object, place).first->second; first != place)
            out.same = first;
        m_state.tensors.push_back(std::move(out));
    }

    Status limit(std::string_view token, const std::string &what) const
    {
        return Status(ErrorCode::limitExceeded, fmt::format("{}: {}", m_file.name(), what))
            .withDetail(std::string(token));
    }

    const TorchFile &m_file;
    const JobContext &m_job;
    StateDict &m_state;
    std::size_t m_visits = 0;
    std::unordered_set<std::uint32_t> m_path;
    std::unordered_map<std::string, int> m_storages;
    std::unordered_map<std::uint32_t, int> m_objects; // tensors by their value in the pickle
};

} // namespace

Status readTorchCheckpoint(const TorchFile &file, const JobContext &job, StateDict &state)
{
    return CheckpointWalker(file, job, state).visit(file.root(), "");
}

} // namespace core
