// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/native_journal.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace core {
namespace {

constexpr std::uint64_t kMagic = 0x314e524a53504f00ULL; // "\0OPSJRN1"
constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kTotalBytes = kHeaderBytes + TraceJournal::kSlots * TraceJournal::kSlotBytes;
constexpr std::size_t kOpBytes = 240;

enum SlotState : std::uint32_t { kFree = 0, kRecords = 1, kPack = 2 };

struct SlotHeader
{
    std::atomic<std::uint32_t> state;
    std::uint32_t number;
    std::atomic<std::uint64_t> committed;
};

constexpr std::uint32_t kEnded = 4;

struct RunningOp
{
    RecordId call;
    RecordId stack;
    std::uint32_t length;
    char op[kOpBytes];
};

struct Header
{
    std::uint64_t magic;
    std::uint64_t bytes;
    // Two places, so that a death in the middle of an announcement leaves the one before.
    std::atomic<std::uint32_t> running; // 0 none, 1 or 2, with kEnded when the op has
    RunningOp ops[2];
    SlotHeader slots[TraceJournal::kSlots];
};
static_assert(sizeof(Header) <= kHeaderBytes && std::atomic<std::uint64_t>::is_always_lock_free);

Header &header(std::byte *memory)
{
    return *reinterpret_cast<Header *>(memory);
}

Status failed(std::string_view what)
{
    return {ErrorCode::internal, fmt::format("journal: {}: {}", what, std::strerror(errno))};
}

// The limits of the process (files, their size) hold for shared memory too.
Status noMemory()
{
    const int reason = errno;
    Status status(ErrorCode::limitExceeded,
                  fmt::format("no shared memory of {} bytes can be made for the journal of the run: {}",
                              kTotalBytes, std::strerror(reason)));
    if (reason == EFBIG)
        return std::move(status).withRemedy("raise the limit on the size of files (ulimit -f)");
    if (reason == EMFILE || reason == ENFILE)
        return std::move(status).withRemedy("raise the limit on open files (ulimit -n)");
    return status;
}

Result<std::byte *> map(int descriptor)
{
    const int flags = (descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_POPULATE;
    void *memory = ::mmap(nullptr, kTotalBytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    if (memory == MAP_FAILED)
        return failed("mapping");
    return static_cast<std::byte *>(memory);
}

bool readAll(int descriptor, std::size_t offset, void *out, std::size_t bytes)
{
    return ::pread(descriptor, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

std::optional<JournalContent::Running> runningOf(const Header &at)
{
    const std::uint32_t running = at.running.load();
    const std::uint32_t place = running & ~kEnded;
    if (place != 1 && place != 2)
        return std::nullopt;
    const RunningOp &op = at.ops[place - 1];
    return JournalContent::Running{std::string(op.op, std::min<std::size_t>(op.length, kOpBytes)), op.call,
                                   op.stack, (running & kEnded) != 0};
}

} // namespace

Result<std::unique_ptr<TraceJournal>> TraceJournal::create()
{
    const int descriptor = ::memfd_create("opscope-journal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0)
        return noMemory();
    if (::ftruncate(descriptor, kTotalBytes) != 0 ||
        ::fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        Status status = noMemory();
        ::close(descriptor);
        return status;
    }
    const std::uint64_t start[] = {kMagic, kTotalBytes};
    if (::pwrite(descriptor, start, sizeof start, 0) != sizeof start) {
        ::close(descriptor);
        return failed("writing");
    }
    return std::unique_ptr<TraceJournal>(new TraceJournal(nullptr, descriptor, true));
}

Result<std::unique_ptr<TraceJournal>> TraceJournal::attach(int descriptor)
{
    struct stat info = {};
    std::uint64_t start[2] = {};
    if (::fstat(descriptor, &info) != 0 || !readAll(descriptor, 0, start, sizeof start))
        return failed("attaching");
    if (info.st_size != static_cast<off_t>(kTotalBytes) || start[0] != kMagic || start[1] != kTotalBytes)
        return Status(ErrorCode::protocol,
                      fmt::format("descriptor {} is no journal of this version", descriptor));
    const auto memory = map(descriptor);
    if (!memory)
        return memory.status();
    return std::unique_ptr<TraceJournal>(new TraceJournal(*memory, descriptor, false));
}

Result<std::unique_ptr<TraceJournal>> TraceJournal::createPrivate()
{
    const auto memory = map(-1);
    if (!memory)
        return memory.status();
    return std::unique_ptr<TraceJournal>(new TraceJournal(*memory, -1, false));
}

TraceJournal::~TraceJournal()
{
    if (m_memory != nullptr)
        ::munmap(m_memory, kTotalBytes);
    if (m_ownsDescriptor)
        ::close(m_descriptor);
}

std::span<std::byte> TraceJournal::memory(std::size_t slot)
{
    return {m_memory + kHeaderBytes + slot * kSlotBytes, kSlotBytes};
}

void TraceJournal::open(std::size_t slot, bool isPack, std::uint32_t number)
{
    SlotHeader &at = header(m_memory).slots[slot];
    at.number = number;
    at.committed.store(0, std::memory_order_relaxed);
    at.state.store(isPack ? kPack : kRecords, std::memory_order_release);
}

void TraceJournal::commit(std::size_t slot, std::size_t bytes)
{
    header(m_memory).slots[slot].committed.store(bytes, std::memory_order_release);
}

void TraceJournal::free(std::size_t slot)
{
    header(m_memory).slots[slot].state.store(kFree, std::memory_order_release);
}

void TraceJournal::setRunning(std::string_view op, RecordId call, RecordId stack)
{
    Header &at = header(m_memory);
    if (op.empty()) {
        at.running.store(0, std::memory_order_release);
        return;
    }
    const std::uint32_t place = (at.running.load(std::memory_order_relaxed) & ~kEnded) == 1 ? 2 : 1;
    RunningOp &out = at.ops[place - 1];
    out.call = call;
    out.stack = stack;
    out.length = static_cast<std::uint32_t>(std::min(op.size(), kOpBytes));
    std::memcpy(out.op, op.data(), out.length);
    at.running.store(place, std::memory_order_release);
}

void TraceJournal::setEnded()
{
    std::atomic<std::uint32_t> &running = header(m_memory).running;
    if (const std::uint32_t place = running.load(std::memory_order_relaxed); place != 0)
        running.store(place | kEnded, std::memory_order_release);
}

std::optional<JournalContent::Running> TraceJournal::running() const
{
    std::vector<std::byte> bytes(kHeaderBytes);
    return readAll(m_descriptor, 0, bytes.data(), bytes.size()) ? runningOf(header(bytes.data()))
                                                                : std::nullopt;
}

Result<JournalContent> TraceJournal::content() const
{
    std::vector<std::byte> bytes(kHeaderBytes);
    if (!readAll(m_descriptor, 0, bytes.data(), bytes.size()))
        return failed("reading");
    const Header &at = header(bytes.data());
    JournalContent content;
    content.running = runningOf(at);
    for (std::size_t i = 0; i < kSlots; ++i) {
        const SlotHeader &slot = at.slots[i];
        const std::uint32_t state = slot.state.load();
        const std::uint64_t committed = slot.committed.load();
        if ((state != kRecords && state != kPack) || committed == 0 || committed > kSlotBytes)
            continue;
        JournalContent::Part part{state == kPack, slot.number, std::vector<std::byte>(committed)};
        if (!readAll(m_descriptor, kHeaderBytes + i * kSlotBytes, part.bytes.data(), part.bytes.size()))
            return failed("reading");
        content.parts.push_back(std::move(part));
    }
    std::sort(content.parts.begin(), content.parts.end(), [](const auto &a, const auto &b) {
        return std::pair(!a.isPack, a.number) < std::pair(!b.isPack, b.number);
    });
    return content;
}

} // namespace core
