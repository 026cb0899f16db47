// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/value.h"
#include "core/ipc/worker.h"
#include "core/layout/hierarchy_layout.h"
#include "core/layout_graphviz/graphviz_layouter.h"

#include <csignal>
#include <cstdio>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

namespace {

// Graphviz cannot be cancelled: when the parent closed our input, or the time is up, the process ends where
// it stands. It has nothing to save.
void endNow(int)
{
    _exit(3);
}

void limitProcess()
{
#ifndef __SANITIZE_ADDRESS__                          // its shadow is terabytes of addresses
    constexpr rlim_t kAddressSpace = rlim_t(3) << 29; // 1.5 GiB
    const rlimit limit = {kAddressSpace, kAddressSpace};
    setrlimit(RLIMIT_AS, &limit);
#endif
    const rlimit noCore = {0, 0};
    setrlimit(RLIMIT_CORE, &noCore);
    std::signal(SIGALRM, endNow);
}

void setAlarm(double seconds)
{
    itimerval timer = {};
    timer.it_value.tv_sec = static_cast<time_t>(seconds);
    setitimer(ITIMER_REAL, &timer, nullptr);
}

core::Status answerAbout(core::Worker &worker, const core::GraphvizLayouter &layouter)
{
    const core::DoneMessage done{
        core::toJson(core::Value::object({{"graphviz_version", layouter.version()}}))};
    return worker.send(core::MessageType::done, done.encode());
}

core::Status answer(core::Worker &worker, core::HierarchyLayout &layout, const core::Frame &frame)
{
    if (frame.type != core::kLayoutRequestFrame)
        return worker.sendFailed(
            {core::ErrorCode::protocol,
             "layout_worker: message type " + std::to_string(frame.type) + " is not known"});
    core::Result<core::LayoutRequest> request = core::decodeLayoutRequest(frame.payload);
    if (!request)
        return worker.sendFailed(request.error());
    core::JobContext context(worker.stopToken());
    setAlarm(core::kLayoutSecondsLimit + 1.0); // the parent, which counts too, comes first
    core::Result<core::LayoutResult> result = layout.layout(*request, context);
    setAlarm(0.0);
    if (!result)
        return worker.sendFailed(result.error());
    return worker.send(core::kLayoutResultFrame, core::encodeLayoutResult(*result));
}

} // namespace

// Lays out graphs with Graphviz for the window: requests in, results out, until standard input closes.
int main()
{
    limitProcess();
    core::Worker worker(STDIN_FILENO, STDOUT_FILENO, "layout_worker");
    if (core::Status status = worker.start(); !status) {
        std::fprintf(stderr, "%s\n", status.message().c_str());
        return 2;
    }
    const std::stop_callback parentGone(worker.stopToken(), [] { _exit(0); });
    core::GraphvizLayouter layouter;
    core::HierarchyLayout layout(layouter);
    for (;;) {
        core::Result<std::optional<core::Frame>> frame = worker.next();
        if (!frame || !frame->has_value())
            return frame ? 0 : 2;
        const core::Status status = (*frame)->type == core::kLayoutAboutFrame
                                        ? answerAbout(worker, layouter)
                                        : answer(worker, layout, **frame);
        if (!status)
            return 2;
    }
}
