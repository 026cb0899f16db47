// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/installation/doctor_facts.h"

#include "app/installation/image_decoder.h"
#include "app/installation/layout_client.h"
#include "app/installation/offscreen_application.h"
#include "core/base/units.h"
#include "core/capture/capture_client.h"
#include "views/render/fonts.h"

#include <QCoreApplication>
#include <QFontDatabase>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <sys/resource.h>
#include <thread>

namespace app {
namespace {

using core::CaptureOutcome;
using core::CaptureRequest;
using core::DoctorFacts;
using core::ErrorCode;
using core::Result;
using core::Status;
using core::Value;

constexpr std::chrono::seconds kProbeWithin{120};
constexpr std::chrono::seconds kModelWithin{600}; // reads the weights

// A stop token that stops with JOB, or by itself after LIMIT.
class Deadline
{
public:
    Deadline(const core::JobContext &job, std::chrono::seconds limit)
        : m_withJob(job.token(), [this] { m_source.request_stop(); }),
          m_timer([this, limit](const std::stop_token &ended) {
              std::unique_lock lock(m_mutex);
              m_wake.wait_for(lock, ended, limit, [] { return false; });
              if (ended.stop_requested())
                  return;
              m_expired = true;
              lock.unlock();
              m_source.request_stop();
          })
    {
    }

    std::stop_token token() const { return m_source.get_token(); }
    bool isExpired() const
    {
        const std::lock_guard lock(m_mutex);
        return m_expired;
    }

private:
    std::stop_source m_source;
    mutable std::mutex m_mutex;
    std::condition_variable_any m_wake;
    bool m_expired = false;
    std::stop_callback<std::function<void()>> m_withJob;
    std::jthread m_timer; // last: ends before what it uses
};

// The summary of the task "doctor" for REQUEST.
Result<Value> askCaptureWorker(CaptureRequest request, const std::filesystem::path &programFolder,
                               const core::JobContext &job)
{
    const std::chrono::seconds limit = request.modelPath.empty() ? kProbeWithin : kModelWithin;
    request.task = "doctor";
    const Deadline deadline(job, limit);
    core::CaptureClient client(programFolder / "capture_worker");
    client.setImageDecoder(imageDecoder());
    const Result<CaptureOutcome> outcome = client.run(request, core::JobContext(deadline.token()), {});
    if (deadline.isExpired())
        return Status(ErrorCode::workerHung,
                      "capture_worker did not answer within " + std::to_string(limit.count()) + " s");
    if (!outcome)
        return outcome.error();
    if (!outcome->error)
        return outcome->error;
    return outcome->summary;
}

Status modelError(const Value &error)
{
    return Status(ErrorCode::unreadable, error.at("message").toString())
        .withDetail(error.at("detail").toString())
        .withRemedy(error.at("remedy").toString());
}

void addTorch(const CaptureRequest &request, const std::filesystem::path &programFolder,
              const core::JobContext &job, DoctorFacts &facts)
{
    Result<Value> answer = askCaptureWorker(request, programFolder, job);
    if (!answer && !request.modelPath.empty()) {
        // The model may have been the death of the worker: the environment is another question.
        facts.modelStatus = answer.error().prefixed("reading the model");
        answer = askCaptureWorker({}, programFolder, job);
    }
    if (!answer) {
        facts.torchStatus = answer.error();
        return;
    }
    facts.torch = answer->at("torch");
    if (const Value *model = answer->find("model"))
        facts.model = *model;
    else if (const Value *error = answer->find("model_error"))
        facts.modelStatus = modelError(*error);
}

Value bundledFamilies()
{
    Value families = Value::list();
    for (const char *family : {"Inter", "JetBrains Mono"})
        if (QFontDatabase::families().contains(QLatin1String(family)))
            families.append(family);
    return families;
}

Value fontFamilies()
{
    if (QCoreApplication::instance() != nullptr)
        return bundledFamilies();
    const Result<std::unique_ptr<OffscreenApplication>> application = OffscreenApplication::start();
    return application && render::loadBundledFonts() ? bundledFamilies() : Value::list();
}

std::string environment(const char *name)
{
    const char *const value = std::getenv(name);
    return value == nullptr ? std::string() : std::string(value);
}

Value displayFact()
{
    if (const std::string wayland = environment("WAYLAND_DISPLAY"); !wayland.empty())
        return "Wayland " + wayland;
    if (const std::string x11 = environment("DISPLAY"); !x11.empty())
        return "X11 " + x11;
    return {};
}

std::string limitText(int resource)
{
    rlimit limit = {};
    if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0)
        return "unknown";
    return limit.rlim_cur == RLIM_INFINITY ? "none" : core::formatBytes(limit.rlim_cur);
}

Value limits()
{
    return Value::object({{"address_space", limitText(RLIMIT_AS)},
                          {"data", limitText(RLIMIT_DATA)},
                          {"layout_worker", "1.5 GiB, 10 s a graph"},
                          {"capture_worker", "--memory-limit, --time-limit; no core dumps"}});
}

Value hostFacts(const std::filesystem::path &programFolder)
{
    Value optional = Value::object();
    for (const char *program : {"capture_worker", "layout_worker", "opscope"}) {
        std::error_code error;
        optional.set(program, std::filesystem::exists(programFolder / program, error));
    }
    return Value::object({{"display", displayFact()},
                          {"fonts", fontFamilies()},
                          {"optional", std::move(optional)},
                          {"sandbox", limits()}});
}

} // namespace

DoctorFacts collectDoctorFacts(const CaptureRequest &request, const std::filesystem::path &programFolder,
                               const core::JobContext &job)
{
    DoctorFacts facts;
    facts.host = hostFacts(programFolder);
    addTorch(request, programFolder, job, facts);
    Result<Value> layout = layoutWorkerFacts(programFolder, job);
    if (layout)
        facts.layout = std::move(*layout);
    else
        facts.layoutStatus = layout.error();
    return facts;
}

} // namespace app
