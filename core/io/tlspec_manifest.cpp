// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/tlspec_manifest.h"

#include "core/io/zip_reader.h"

#include <fmt/format.h>

namespace core {
namespace {

constexpr std::uint64_t kJsonBytes = std::uint64_t(512) << 20U;
constexpr std::size_t kJsonDepth = 200;

Status checkKind(const TlspecFiles &files, const Value &json)
{
    const std::string &kind = json.at("kind").toString();
    const auto refuse = [&](std::string_view what, std::string_view remedy) {
        return Status(ErrorCode::unsupported, fmt::format("{}: {}, not one trace", files.name(), what))
            .withDetail("unsupported_bundle")
            .withRemedy(std::string(remedy));
    };
    if (json.at("bundle_format").toString() == "fastlog-directory")
        return refuse("a fastlog recording", "record the run with tl.trace and save it with trace.save");
    if (kind == "bundle")
        return refuse("a bundle of several traces", "open one of its members/NNNN.tlspec folders");
    if (kind == "intervention" || (kind.empty() && !json.at("tlspec_version").isInt()))
        return refuse("an intervention recipe or something else", "save the trace itself with trace.save");
    return Status::ok();
}

Result<TlspecBlob> readBlob(const TlspecFiles &files, const Value &json, LoadReport &report)
{
    TlspecBlob blob;
    blob.id = json.at("blob_id").toString();
    blob.kind = json.at("kind").toString();
    blob.label = json.at("label").toString();
    blob.path = json.at("relative_path").toString();
    blob.sha256 = json.at("sha256").toString();
    blob.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(json.at("bytes").toInt(), 0));
    blob.requiresGrad = json.at("requires_grad").toBool();
    const std::string &dtype = json.at("dtype").toString();
    blob.dtype = dtypeFromName(dtype).value_or(DType::unknown);
    if (blob.dtype == DType::unknown)
        report.add("unknown_dtype",
                   fmt::format("{}: blob {} has the unknown dtype {}", files.name(), blob.id, dtype));
    for (const Value &extent : json.at("shape").toList())
        blob.shape.push_back(extent.toInt(-1));
    if (!isSafeRelativePath(blob.path) || !blob.path.starts_with("blobs/") ||
        blob.path.find('/', 6) != std::string::npos)
        return Status(ErrorCode::corrupt, fmt::format("{}: blob {} is said to be at '{}', outside of blobs/",
                                                      files.name(), blob.id, blob.path))
            .withDetail("unsafe_path");
    blob.present = files.contains(blob.path);
    if (!blob.present)
        report.add("missing_record", fmt::format("{}: {} is not in the bundle", files.name(), blob.path));
    return blob;
}

void checkCounts(const TlspecFiles &files, const TlspecManifest &manifest, LoadReport &report)
{
    std::int64_t outs = 0;
    std::int64_t grads = 0;
    for (const TlspecBlob &blob : manifest.blobs) {
        outs += blob.kind == "out" ? 1 : 0;
        grads += blob.kind == "grad" ? 1 : 0;
    }
    const auto all = static_cast<std::int64_t>(manifest.blobs.size());
    const auto check = [&](std::string_view key, std::int64_t found) {
        const Value &stated = manifest.json.at(key);
        if (stated.isInt() && stated.toInt() != found)
            report.add("count_mismatch", fmt::format("{}: {} is {}, the manifest lists {}", files.name(), key,
                                                     stated.toInt(), found));
    };
    check("n_out_blobs", outs);
    check("n_grad_blobs", grads);
    check("n_auxiliary_blobs", all - outs - grads);
    const Value &index = manifest.json.at("body_index");
    if (index.isList() && static_cast<std::int64_t>(index.toList().size()) != all)
        report.add("count_mismatch",
                   fmt::format("{}: body_index has {} entries, the manifest lists {} tensors", files.name(),
                               index.toList().size(), all));
}

} // namespace

Result<std::shared_ptr<const TlspecManifest>> readTlspecManifest(const TlspecFiles &files, LoadReport &report)
{
    const auto source = files.open("manifest.json");
    if (!source)
        return source.status();
    const auto bytes = readRange(**source, 0, (*source)->size(), kJsonBytes);
    if (!bytes)
        return bytes.status();
    JsonLimits limits;
    limits.depth = kJsonDepth;
    auto json = parseJson({reinterpret_cast<const char *>(bytes->data()), bytes->size()},
                          files.name() + "/manifest.json", limits);
    if (!json)
        return Status(json.error())
            .withDetail(json.error().code() == ErrorCode::limitExceeded ? "nesting_too_deep" : "bad_json");
    if (Status status = checkKind(files, *json); !status)
        return status;
    auto manifest = std::make_shared<TlspecManifest>();
    manifest->json = std::move(*json);
    const Value &version = manifest->json.at("tlspec_version");
    manifest->version = version.isInt() ? version.toInt() : manifest->json.at("io_format_version").toInt();
    if (manifest->version > kNewestTlspecVersion)
        report.add("newer_version",
                   fmt::format("{}: bundle version {}, the newest known is {}; what is new in it is "
                               "not shown",
                               files.name(), manifest->version, kNewestTlspecVersion));
    for (const Value &entry : manifest->json.at("tensors").toList()) {
        auto blob = readBlob(files, entry, report);
        if (!blob)
            return blob.status();
        manifest->blobs.push_back(std::move(*blob));
    }
    for (const TlspecBlob &blob : manifest->blobs)
        manifest->byId.emplace(blob.id, &blob);
    checkCounts(files, *manifest, report);
    return std::shared_ptr<const TlspecManifest>(std::move(manifest));
}

} // namespace core
