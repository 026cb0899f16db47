// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/image_spec.h"

#include "core/base/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace core {
namespace {

constexpr std::int64_t kMaxSide = 16384;

Status invalid(std::string_view name, std::string_view text, std::string_view takes)
{
    return Status(ErrorCode::invalidArgument, "image option " + std::string(name) + " is \"" +
                                                  std::string(text) + "\", it takes " + std::string(takes));
}

bool readSide(std::string_view text, std::int64_t &out)
{
    const auto result = std::from_chars(text.data(), text.data() + text.size(), out);
    return result.ec == std::errc() && result.ptr == text.data() + text.size() && out >= 0 && out <= kMaxSide;
}

Status readCrop(std::string_view text, ImageSpec &spec)
{
    const std::size_t cross = text.find('x');
    const std::string_view height = text.substr(0, cross);
    const std::string_view width = cross == std::string_view::npos ? height : text.substr(cross + 1);
    if (!readSide(height, spec.cropHeight) || !readSide(width, spec.cropWidth))
        return invalid("crop", text, "a side or HxW, at most 16384; 0 for the whole image");
    return Status::ok();
}

Status readTriple(std::string_view name, std::string_view text, std::array<double, 3> &out)
{
    std::size_t count = 0;
    for (std::size_t at = 0; at <= text.size() && count < 3; ++count) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        const char *const end = text.data() + comma;
        const auto result = std::from_chars(text.data() + at, end, out[count]);
        if (result.ec != std::errc() || result.ptr != end || !std::isfinite(out[count]))
            return invalid(name, text, "one number or three with commas");
        at = comma + 1;
    }
    if (count == 1)
        out = {out[0], out[0], out[0]};
    else if (count != 3)
        return invalid(name, text, "one number or three with commas");
    return Status::ok();
}

Status readNorm(std::string_view text, ImageSpec &spec)
{
    if (text == "imagenet") {
        spec.mean = ImageSpec().mean;
        spec.std = ImageSpec().std;
    } else if (text == "half") {
        spec.mean = spec.std = {0.5, 0.5, 0.5};
    } else if (text == "none") {
        spec.mean = {0.0, 0.0, 0.0};
        spec.std = {1.0, 1.0, 1.0};
    } else {
        return invalid("norm", text, "imagenet, half or none");
    }
    return Status::ok();
}

Status readPart(const std::string &name, const std::string &text, ImageSpec &spec)
{
    if (name == "resize")
        return readSide(text, spec.resize) ? Status::ok() : invalid(name, text, "a side, at most 16384");
    if (name == "crop")
        return readCrop(text, spec);
    if (name == "norm")
        return readNorm(text, spec);
    if (name == "mean")
        return readTriple(name, text, spec.mean);
    if (name == "std")
        return readTriple(name, text, spec.std);
    if (name == "channels" && (text == "1" || text == "3")) {
        spec.channels = text == "1" ? 1 : 3;
        return Status::ok();
    }
    return name == "channels"
               ? invalid(name, text, "1 or 3")
               : Status(ErrorCode::invalidArgument, "image option " + name +
                                                        " is not known, only resize, crop, norm, mean, "
                                                        "std, channels");
}

std::string tripleText(const std::array<double, 3> &values)
{
    return formatDouble(values[0]) + ',' + formatDouble(values[1]) + ',' + formatDouble(values[2]);
}

} // namespace

Result<std::vector<std::pair<std::string, std::string>>> parseParts(std::string_view text)
{
    std::vector<std::pair<std::string, std::string>> parts;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('&', at), text.size());
        const std::string_view part = text.substr(at, end - at);
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos)
            return Status(ErrorCode::invalidArgument,
                          "option \"" + std::string(part) + "\" of an input file has no \"=\"");
        parts.emplace_back(part.substr(0, equals), part.substr(equals + 1));
        at = end + 1;
    }
    return parts;
}

Result<ImageSpec> parseImageSpec(std::string_view text)
{
    const auto parts = parseParts(text);
    if (!parts)
        return parts.error();
    ImageSpec spec;
    for (const auto &[name, value] : *parts)
        if (Status status = readPart(name, value, spec); !status)
            return status;
    for (const double deviation : spec.std)
        if (deviation == 0.0)
            return invalid("std", "0", "numbers that are not 0");
    return spec;
}

std::string imageSpecText(const ImageSpec &spec)
{
    return "resize=" + std::to_string(spec.resize) + "&crop=" + std::to_string(spec.cropHeight) + 'x' +
           std::to_string(spec.cropWidth) + "&mean=" + tripleText(spec.mean) +
           "&std=" + tripleText(spec.std) + "&channels=" + std::to_string(spec.channels);
}

std::vector<float> normalisedPixels(const ImagePixels &pixels, const ImageSpec &spec)
{
    const auto count = static_cast<std::size_t>(pixels.width * pixels.height);
    std::vector<float> values(count * static_cast<std::size_t>(spec.channels));
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t *const pixel = pixels.rgb.data() + 3 * i;
        if (spec.channels == 1) {
            const double grey = (0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2]) / 255.0;
            values[i] = static_cast<float>((grey - spec.mean[0]) / spec.std[0]);
            continue;
        }
        for (std::size_t channel = 0; channel < 3; ++channel)
            values[channel * count + i] =
                static_cast<float>((pixel[channel] / 255.0 - spec.mean[channel]) / spec.std[channel]);
    }
    return values;
}

} // namespace core
