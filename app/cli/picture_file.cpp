// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/picture_file.h"

#include "app/installation/offscreen_application.h"
#include "core/io/draft_file.h"
#include "views/render/fonts.h"
#include "views/render/image_writer.h"

#include <filesystem>

namespace app {
namespace {

using core::ErrorCode;
using core::Result;
using core::Status;

constexpr std::int64_t kMostScale = 8;

Status usage(std::string message)
{
    return Status(ErrorCode::invalidArgument, std::move(message));
}

Status writePngFile(const core::DrawList &list, const PictureTarget &target, core::JobContext &job)
{
    const Result<std::unique_ptr<OffscreenApplication>> application = OffscreenApplication::start();
    if (!application)
        return application.error();
    if (!render::loadBundledFonts())
        return Status(ErrorCode::internal, "the bundled fonts cannot be loaded");
    Result<core::DraftName> file = core::DraftName::take(target.path);
    if (!file)
        return file.error();
    const Status written = render::writePng(list, target.scheme, target.scale, file->draft(), job);
    return written ? file->commit() : file->named(written);
}

Result<PictureFormat> formatOf(std::string_view word, const std::string &path)
{
    std::string name(word);
    if (name.empty()) {
        const std::string suffix = std::filesystem::path(path).extension().string();
        name = suffix.empty() ? suffix : suffix.substr(1);
    }
    for (const PictureFormat format : {PictureFormat::svg, PictureFormat::png, PictureFormat::dot})
        if (name == pictureFormatName(format))
            return format;
    return usage(name.empty() ? path + " has no suffix that says its format: give --format svg, png or dot"
                              : "option --format is \"" + name + "\", it takes svg, png or dot");
}

Result<core::ThemeScheme> schemeOf(std::string_view word)
{
    using core::ThemeScheme;
    for (const ThemeScheme scheme : {ThemeScheme::light, ThemeScheme::dark, ThemeScheme::highContrast})
        if (word == core::themeSchemeName(scheme))
            return scheme;
    return usage("option --theme is \"" + std::string(word) + "\", it takes light, dark or high-contrast");
}

} // namespace

std::string_view pictureFormatName(PictureFormat format)
{
    switch (format) {
    case PictureFormat::svg:
        return "svg";
    case PictureFormat::png:
        return "png";
    case PictureFormat::dot:
        break;
    }
    return "dot";
}

Result<PictureTarget> pictureTarget(const Arguments &arguments)
{
    PictureTarget target;
    if (!arguments.has("output"))
        return usage("-o FILE is missing, the picture to write");
    target.path = arguments.text("output");
    const Result<PictureFormat> format = formatOf(arguments.text("format"), target.path);
    if (!format)
        return format.error();
    target.format = *format;
    if (arguments.has("theme")) {
        const Result<core::ThemeScheme> scheme = schemeOf(arguments.text("theme"));
        if (!scheme)
            return scheme.error();
        target.scheme = *scheme;
    }
    const Result<std::optional<std::int64_t>> scale = arguments.integer("scale", 1, kMostScale);
    if (!scale)
        return scale.error();
    target.scale = static_cast<double>(scale->value_or(2));
    return target;
}

Status writePicture(const core::DrawList &list, const render::PictureFrame &frame,
                    const PictureTarget &target, core::JobContext &job)
{
    const core::DrawList framed = render::framedPicture(list, frame);
    if (target.format == PictureFormat::svg)
        return writeWhole(target.path, render::svgText(framed, target.scheme));
    return writePngFile(framed, target, job);
}

Status writeWhole(const std::string &path, std::string_view text)
{
    const Result<std::unique_ptr<core::DraftFile>> file = core::DraftFile::create(path);
    if (!file)
        return file.error();
    const Status status = (*file)->write(text);
    return status ? (*file)->commit() : status;
}

} // namespace app
