// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/io/file_kind.h"

#include "core/base/utf8.h"
#include "core/io/inflate.h"
#include "core/io/safetensors.h"
#include "core/io/zip_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace core {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kHead = std::uint64_t(64) << 10U;

struct Signature
{
    std::size_t at;
    std::string_view bytes;
    FileKind kind;
    std::string_view description;
    std::string_view remedy;
};

constexpr std::string_view kNoPicture = "give a picture as a model's input, not as a model or a trace";

constexpr Signature kSignatures[] = {
    {30, "mimetypeapplication/vnd.opscope.trace"sv, FileKind::nativeTrace, "an opscope trace", ""},
    {0, "\x93NUMPY"sv, FileKind::npy, "a NumPy array", ""},
    {0, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv, FileKind::torchSaveLegacy,
     "a torch.save file of the form before PyTorch 1.6", ""},
    {0, "\x89PNG"sv, FileKind::unknown, "a PNG picture", kNoPicture},
    {0, "\xff\xd8\xff"sv, FileKind::unknown, "a JPEG picture", kNoPicture},
    {0, "GIF8"sv, FileKind::unknown, "a GIF picture", kNoPicture},
    {0, "%PDF"sv, FileKind::unknown, "a PDF document", ""},
    {0,
     "\x7f"
     "ELF"sv,
     FileKind::unknown, "native code (an ELF file, as AOTInductor makes them)",
     "open the .pt2 program that it was compiled from"},
    {0, "\x89HDF"sv, FileKind::unknown, "an HDF5 file (Keras?)",
     "convert the weights to .safetensors or .npz"},
    {0, "GGUF"sv, FileKind::unknown, "a GGUF model", "convert the weights to .safetensors"},
    {4, "TFL3"sv, FileKind::unknown, "a TensorFlow Lite model", ""},
    {0, "SQLite format 3"sv, FileKind::unknown, "an SQLite database", ""},
    {257, "ustar"sv, FileKind::unknown, "a tar archive",
     "unpack it; a checkpoint of PyTorch before 0.4 has to be saved again by a newer PyTorch"},
    {0, "\x28\xb5\x2f\xfd"sv, FileKind::unknown, "zstd compressed data", "unpack it first"},
    {0,
     "\xfd"
     "7zXZ"sv,
     FileKind::unknown, "xz compressed data", "unpack it first"},
    {0, "BZh"sv, FileKind::unknown, "bzip2 compressed data", "unpack it first"},
    {0, "7z\xbc\xaf\x27\x1c"sv, FileKind::unknown, "a 7-Zip archive", "unpack it first"},
};

bool startsAt(std::string_view head, std::size_t at, std::string_view bytes)
{
    return head.size() >= at + bytes.size() && head.substr(at, bytes.size()) == bytes;
}

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

FileIdentity identifyJson(std::string_view head)
{
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    const std::string_view text = first == std::string_view::npos ? std::string_view() : head.substr(first);
    if (text.empty() || (text.front() != '{' && text.front() != '['))
        return {};
    if (contains(text, "\"traceEvents\"") || contains(text, "\"ph\"") ||
        contains(text, "\"deviceProperties\""))
        return {FileKind::kineto, false, "a profiler trace (Chrome trace JSON)", ""};
    if (contains(text, "\"nodes\"") && contains(text, "\"schema\""))
        return {FileKind::executionTrace, false, "an execution trace", ""};
    if (contains(text, "\"weight_map\""))
        return {FileKind::safetensorsIndex, false, "the index of a sharded safetensors checkpoint", ""};
    if (contains(text, "\"tlspec_version\""))
        return {FileKind::unknown, false, "the manifest of a TorchLens bundle",
                "open the folder that holds it"};
    return {FileKind::unknown, false, "a JSON file of another kind", ""};
}

// Text of some encoding without NUL bytes: no control characters, and what is not ASCII is UTF-8 or the
// smaller part.
bool isText(std::string_view head)
{
    const auto isPrintable = [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t' || c == '\f';
    };
    if (!std::all_of(head.begin(), head.end(), isPrintable))
        return false;
    constexpr std::ptrdiff_t kLeastPlain = 3; // of four characters of Latin text
    const auto high = std::count_if(head.begin(), head.end(), [](char c) { return c < 0; });
    return isUtf8(head) || high * (kLeastPlain + 1) < static_cast<std::ptrdiff_t>(head.size());
}

bool startsWithWord(std::string_view text, std::string_view lower)
{
    const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
    return text.size() >= lower.size() &&
           std::equal(lower.begin(), lower.end(), text.begin(), [&](char b, char a) { return same(a, b); });
}

// What comes instead of a file when a download or a checkout went wrong; without a description when it is
// nothing of the kind.
FileIdentity identifyStandIn(std::string_view head)
{
    const std::size_t first = head.find_first_not_of(" \t\r\n");
    const std::string_view text = first == std::string_view::npos ? std::string_view() : head.substr(first);
    if (text.starts_with("version https://git-lfs.github.com/"))
        return {FileKind::unknown, false, "a Git LFS pointer and not the file it stands for",
                "fetch the file with git lfs pull"};
    if (startsWithWord(text, "<!doctype html") || startsWithWord(text, "<html"))
        return {FileKind::unknown, false, "an HTML page, as a failed download leaves it",
                "download the file again"};
    if (startsWithWord(text, "<?xml"))
        return {FileKind::unknown, false, "an XML document", ""};
    return {};
}

FileIdentity identifyText(std::string_view head)
{
    if (!isText(head))
        return {FileKind::unknown, false, "binary data without a known signature", ""};
    if (FileIdentity standIn = identifyStandIn(head); !standIn.description.empty())
        return standIn;
    if (contains(head, "import torch") || contains(head, "def "))
        return {FileKind::unknown, false, "a Python source file",
                "export the model to .pt2 (torch.export.save) or TorchScript (torch.jit.save) and open that"};
    return {FileKind::unknown, false, "a text file", ""};
}

FileIdentity identifyHead(std::string_view head, std::uint64_t size)
{
    for (const Signature &signature : kSignatures)
        if (startsAt(head, signature.at, signature.bytes))
            return {signature.kind, false, std::string(signature.description), std::string(signature.remedy)};
    if (looksLikeSafetensors(std::as_bytes(std::span(head)), size))
        return {FileKind::safetensors, false, "a safetensors file", ""};
    if (FileIdentity json = identifyJson(head); !json.description.empty())
        return json;
    if (startsAt(head, 0, "\x80") && head.size() > 1 && head[1] <= '\5')
        return {FileKind::unknown, false, "a plain pickle, which is no checkpoint of torch.save",
                "save it with torch.save or as .safetensors"};
    if (contains(head.substr(0, 64), "onnx") || contains(head.substr(0, 256), "pytorch\x12"))
        return {FileKind::unknown, false, "an ONNX model", "export the PyTorch model to .pt2 instead"};
    return identifyText(head);
}

Result<FileIdentity> identifyGzip(const ByteSource &source)
{
    GzipLimits limits;
    limits.maximum = std::uint64_t(1) << 32U;
    const auto bytes = gunzip(source, limits);
    if (!bytes)
        return bytes.status();
    const std::string_view text(reinterpret_cast<const char *>(bytes->data()),
                                std::min<std::size_t>(bytes->size(), kHead));
    FileIdentity identity = startsAt(text, 0, "PK\x03\x04") && !startsAt(text, 30, kSignatures[0].bytes)
                                ? FileIdentity{FileKind::unknown, false, "a zip archive", ""}
                                : identifyHead(text, bytes->size());
    identity.isGzip = true;
    identity.description += " in a gzip file";
    if (identity.remedy.empty())
        identity.remedy = "unpack it with gunzip first";
    return identity;
}

// Entries are named below one folder whose name varies; ROOT is it with its slash.
bool hasEntry(const ZipArchive &archive, std::string_view root, std::string_view name)
{
    return archive.find(std::string(root) + std::string(name)) != nullptr;
}

// torch.jit.save writes tensors, then the pickle of the module (which names classes of its code), then code,
// then constants.pkl; what it raises on the way leaves a whole archive of the part that was done.
bool isPartOfScript(const ZipArchive &archive, const std::string &root)
{
    const auto isCode = [&](const ZipEntry &entry) {
        return std::string_view(entry.name).starts_with(root + "code/");
    };
    if (std::any_of(archive.entries().begin(), archive.entries().end(), isCode))
        return true;
    const ZipEntry *pickle = archive.find(root + "data.pkl");
    const auto bytes =
        pickle != nullptr
            ? archive.open(*pickle)
            : Result<std::shared_ptr<const ByteSource>>(Status(ErrorCode::notFound, "data.pkl"));
    if (!bytes)
        return false;
    const auto head = readRange(**bytes, 0, std::min((*bytes)->size(), kHead), kHead);
    return head && startsAt({reinterpret_cast<const char *>(head->data()), head->size()}, 2, "c__torch__");
}

} // namespace

std::string_view fileKindName(FileKind kind)
{
    constexpr std::array kNames = {
        "unknown",     "opscope",   "tlspec",       "tlspec_zip",     "pt2",
        "torchscript", "torch_zip", "torch_legacy", "safetensors",    "safetensors_sharded",
        "npy",         "npz",       "kineto",       "execution_trace"};
    return kNames[static_cast<std::size_t>(kind)];
}

FileIdentity identifyArchive(const ZipArchive &archive)
{
    if (archive.entries().empty())
        return {FileKind::unknown, false, "an empty zip archive", ""};
    const std::string_view first = archive.entries().front().name;
    const std::string root(first.substr(0, first.find('/') + 1));
    if (hasEntry(archive, "", "serialized_exported_program.json") ||
        hasEntry(archive, root, "archive_format"))
        return {FileKind::pt2, false, "a torch.export program", ""};
    if (hasEntry(archive, root, "constants.pkl"))
        return {FileKind::torchScript, false, "a TorchScript archive", ""};
    if (isPartOfScript(archive, root))
        return {FileKind::unknown, false,
                "a TorchScript archive whose save broke off: it has no constants.pkl",
                "save the model again; torch.jit.save says what it could not write"};
    if (hasEntry(archive, root, "data.pkl"))
        return {FileKind::torchSave, false, "a torch.save checkpoint", ""};
    for (const std::string &folder : {std::string(), root})
        if (hasEntry(archive, folder, "manifest.json") && hasEntry(archive, folder, "metadata.pkl"))
            return {FileKind::tlspecZip, false, "a zipped TorchLens bundle", ""};
    const auto isNpy = [](const ZipEntry &entry) { return entry.name.ends_with(".npy"); };
    if (std::all_of(archive.entries().begin(), archive.entries().end(), isNpy))
        return {FileKind::npz, false, "NumPy arrays (.npz)", ""};
    if (std::any_of(archive.entries().begin(), archive.entries().end(),
                    [](const ZipEntry &entry) { return entry.name.starts_with("models/"); }))
        return {FileKind::pt2, false, "a torch.export program", ""};
    return {FileKind::unknown, false,
            fmt::format("a zip archive of {} entries that is no model, checkpoint or trace",
                        archive.entries().size()),
            ""};
}

Result<FileIdentity> identifySource(const std::shared_ptr<const ByteSource> &source)
{
    if (source->size() == 0)
        return Status(ErrorCode::unknownFormat, fmt::format("{}: the file is empty", source->name()))
            .withDetail("empty_file");
    const auto bytes = readRange(*source, 0, std::min(source->size(), kHead), kHead);
    if (!bytes)
        return bytes.status();
    const std::string_view head(reinterpret_cast<const char *>(bytes->data()), bytes->size());
    if (looksLikeGzip(*bytes))
        return identifyGzip(*source);
    if (!startsAt(head, 0, "PK\x03\x04") && !startsAt(head, 0, "PK\x05\x06"))
        return identifyHead(head, source->size());
    if (startsAt(head, kSignatures[0].at, kSignatures[0].bytes))
        return FileIdentity{FileKind::nativeTrace, false, "an opscope trace", ""};
    LoadReport ignored;
    const auto archive = ZipArchive::open(source, ignored);
    if (!archive)
        return archive.status();
    return identifyArchive(**archive);
}

Result<FileIdentity> identifyFile(const std::filesystem::path &path)
{
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        if (std::filesystem::exists(path / "manifest.json", error))
            return FileIdentity{FileKind::tlspecDirectory, false, "a TorchLens bundle", ""};
        return Status(ErrorCode::unknownFormat,
                      fmt::format("{}: a folder that is no TorchLens bundle", path.string()))
            .withDetail("is_a_directory")
            .withRemedy("open a file, or a .tlspec folder, which holds a manifest.json");
    }
    const auto source = openFile(path);
    if (!source)
        return source.status();
    return identifySource(*source);
}

Status notOneOfOurs(const std::string &name, const FileIdentity &identity, std::string_view wanted)
{
    return Status(ErrorCode::unknownFormat, fmt::format("{}: {}, not {}", name, identity.description, wanted))
        .withDetail("unknown_format")
        .withRemedy(identity.remedy);
}

} // namespace core
