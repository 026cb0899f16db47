// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/tlspec_importer.h"

#include "core/io/pickle_value_text.h"

#include <fmt/format.h>

namespace core {

TlspecImporter::TlspecImporter(const PickleGraph &graph, std::shared_ptr<const TlspecManifest> manifest,
                               std::shared_ptr<TlspecStore> store)
    : m_root(graph.root()), m_graph(graph), m_manifest(std::move(manifest)), m_store(std::move(store))
{
}

Result<std::shared_ptr<const Trace>> TlspecImporter::run(const JobContext &job)
{
    if (!top("layer_list").isValid())
        return Status(ErrorCode::corrupt, "metadata.pkl: no layer_list, so this is no trace that can be read")
            .withDetail("bad_pickle");
    readInfo();
    noteForeignGlobals();
    collectLibraryFiles();
    Status status = readOps(job);
    if (status)
        status = addSources();
    if (status)
        status = addModules();
    if (status)
        status = addParams();
    indexGradNodes();
    if (status)
        status = addOps(job);
    if (status)
        status = addBuffers();
    if (status)
        status = addGradNodes();
    if (status)
        status = addBackwards();
    if (status)
        status = addGradients();
    if (!status)
        return status;
    return m_builder.finish(m_store, job);
}

const TlspecBlob *TlspecImporter::blob(PickleValue reference) const
{
    if (!reference.is(PickleKind::instance) || !reference.fullName().ends_with(".BlobRef"))
        return nullptr;
    return m_manifest->find(reference.args().item(0).text());
}

PayloadRecord TlspecImporter::payload(const TlspecBlob *blob, PayloadState otherwise) const
{
    PayloadRecord record;
    record.state = blob == nullptr ? otherwise : blob->present ? PayloadState::saved : PayloadState::dropped;
    if (record.state != PayloadState::saved)
        return record;
    record.entry = blob->path;
    record.bytes = blob->bytes;
    return record;
}

DType TlspecImporter::dtype(PickleValue plain, PickleValue reference)
{
    if (plain.is(PickleKind::global))
        return dtypeFromName(plain.name()).value_or(DType::unknown);
    return dtypeFromName(reference.state().item(1).text()).value_or(DType::unknown);
}

std::vector<std::int64_t> TlspecImporter::shape(PickleValue value, bool &known)
{
    std::vector<std::int64_t> extents;
    known = value.isValid() && !value.isNone();
    for (const PickleValue item : pickleItems(value)) {
        extents.push_back(item.toInt(-1));
        known = known && extents.back() >= 0;
    }
    if (!known)
        extents.clear();
    return extents;
}

} // namespace core
