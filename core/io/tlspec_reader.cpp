// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/tlspec_reader.h"

#include "core/io/tlspec_importer.h"

#include <fmt/format.h>

namespace core {
namespace {

constexpr std::uint64_t kPickleBytes = std::uint64_t(1) << 30U;
constexpr std::uint64_t kCheckedAhead = std::uint64_t(4) << 20U; // bytes of tensor files hashed when opening

} // namespace

Result<std::shared_ptr<const Trace>> readTlspec(std::shared_ptr<const TlspecFiles> files, LoadReport report,
                                                const JobContext &job)
{
    job.report("reading the manifest", 0, 0);
    auto manifest = readTlspecManifest(*files, report);
    if (!manifest)
        return manifest.status();
    const auto source = files->open("metadata.pkl");
    if (!source)
        return Status(source.error())
            .prefixed(
                "the bundle has no readable metadata (a save that was interrupted leaves tensors only)");
    auto bytes = readRange(**source, 0, (*source)->size(), kPickleBytes);
    if (!bytes)
        return bytes.status();
    job.report("reading the metadata", 0, 0);
    const auto graph = PickleGraph::parse(std::make_shared<const std::vector<std::byte>>(std::move(*bytes)),
                                          0, files->name() + "/metadata.pkl");
    if (!graph)
        return graph.status();
    auto store = std::make_shared<TlspecStore>(files, *manifest);
    store->checkAhead(kCheckedAhead, report);
    TlspecImporter importer(**graph, *manifest, std::move(store));
    importer.report() = std::move(report);
    return importer.run(job);
}

} // namespace core
