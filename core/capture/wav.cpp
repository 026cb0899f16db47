// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/wav.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace core {
namespace {

constexpr std::uint64_t kMaxBytes = 256ULL << 20;
constexpr std::uint16_t kPcm = 1;
constexpr std::uint16_t kFloat = 3;
constexpr std::uint16_t kExtensible = 0xfffe;
constexpr std::size_t kUnknownSize = 0x7ffff000; // from here on: what writes to a pipe cannot know its end

Status corrupt(std::string message)
{
    return Status(ErrorCode::corrupt, "WAV file: " + std::move(message)).withDetail("bad_wav");
}

std::uint32_t little(const std::byte *bytes, std::size_t count)
{
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < count; ++i)
        value |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
    return value;
}

struct Format
{
    std::uint16_t code = 0;
    std::uint16_t channels = 0;
    std::uint32_t rate = 0;
    std::uint16_t bits = 0;
};

float sampleAt(const std::byte *bytes, const Format &format)
{
    if (format.code == kFloat && format.bits == 32) {
        float value = 0.0F;
        std::memcpy(&value, bytes, sizeof value);
        return value;
    }
    if (format.code == kFloat) {
        double value = 0.0;
        std::memcpy(&value, bytes, sizeof value);
        return static_cast<float>(value);
    }
    const unsigned width = format.bits / 8U;
    if (width == 1)
        return (static_cast<float>(bytes[0]) - 128.0F) / 128.0F;
    // To the top of 32 bits, so that the sign is where it belongs.
    const auto top = static_cast<std::int32_t>(little(bytes, width) << (32U - format.bits));
    return static_cast<float>(static_cast<double>(top) / 2147483648.0);
}

Status check(const Format &format)
{
    const bool pcm = format.code == kPcm &&
                     (format.bits == 8 || format.bits == 16 || format.bits == 24 || format.bits == 32);
    const bool real = format.code == kFloat && (format.bits == 32 || format.bits == 64);
    if (!pcm && !real)
        return Status(ErrorCode::unsupported, "WAV file: format " + std::to_string(format.code) + " with " +
                                                  std::to_string(format.bits) + " bits is not read")
            .withDetail("wav_format")
            .withRemedy("convert it to 16-bit PCM");
    if (format.channels == 0 || format.rate == 0)
        return corrupt("no channels or no sample rate");
    return Status::ok();
}

Result<Format> readFormat(const std::byte *bytes, std::size_t size)
{
    if (size < 16)
        return corrupt("the format chunk has " + std::to_string(size) + " bytes, not 16");
    Format format;
    format.code = static_cast<std::uint16_t>(little(bytes, 2));
    format.channels = static_cast<std::uint16_t>(little(bytes + 2, 2));
    format.rate = little(bytes + 4, 4);
    format.bits = static_cast<std::uint16_t>(little(bytes + 14, 2));
    if (format.code == kExtensible && size >= 26)
        format.code = static_cast<std::uint16_t>(little(bytes + 24, 2));
    if (Status status = check(format); !status)
        return status;
    return format;
}

WavSound decoded(const Format &format, const std::byte *bytes, std::size_t size)
{
    WavSound sound;
    sound.rate = format.rate;
    sound.channels = format.channels;
    const std::size_t width = format.bits / 8U;
    sound.frames = static_cast<std::int64_t>(size / (width * format.channels));
    sound.samples.resize(static_cast<std::size_t>(sound.frames) * format.channels);
    for (std::size_t frame = 0; frame < static_cast<std::size_t>(sound.frames); ++frame)
        for (std::size_t channel = 0; channel < format.channels; ++channel)
            sound.samples[channel * static_cast<std::size_t>(sound.frames) + frame] =
                sampleAt(bytes + (frame * format.channels + channel) * width, format);
    return sound;
}

} // namespace

Result<WavSound> readWav(const ByteSource &source)
{
    const Result<std::vector<std::byte>> bytes = readRange(source, 0, source.size(), kMaxBytes);
    if (!bytes)
        return bytes.error();
    const std::byte *const data = bytes->data();
    if (bytes->size() < 12 || std::memcmp(data, "RIFF", 4) != 0 || std::memcmp(data + 8, "WAVE", 4) != 0)
        return corrupt("it does not start with RIFF and WAVE");
    std::optional<Format> format;
    for (std::size_t at = 12; at + 8 <= bytes->size();) {
        const std::size_t size = little(data + at + 4, 4);
        const std::size_t begin = at + 8;
        const std::size_t there = std::min(size, bytes->size() - begin);
        if (std::memcmp(data + at, "fmt ", 4) == 0) {
            const Result<Format> read = readFormat(data + begin, there);
            if (!read)
                return read.error();
            format = *read;
        } else if (std::memcmp(data + at, "data", 4) == 0) {
            if (!format)
                return corrupt("the data come before the format");
            if (there < size && size < kUnknownSize)
                return corrupt("the data chunk has " + std::to_string(size) + " bytes, " +
                               std::to_string(there) + " of them are in the file");
            return decoded(*format, data + begin, there);
        }
        at = begin + size + (size & 1U);
    }
    return corrupt("there is no data chunk");
}

WavSound monoOf(const WavSound &sound)
{
    if (sound.channels == 1)
        return sound;
    WavSound mono;
    mono.rate = sound.rate;
    mono.channels = 1;
    mono.frames = sound.frames;
    mono.samples.assign(static_cast<std::size_t>(sound.frames), 0.0F);
    for (std::int64_t channel = 0; channel < sound.channels; ++channel)
        for (std::size_t i = 0; i < mono.samples.size(); ++i)
            mono.samples[i] += sound.samples[static_cast<std::size_t>(channel) * mono.samples.size() + i] /
                               static_cast<float>(sound.channels);
    return mono;
}

WavSound resampled(const WavSound &sound, std::int64_t rate)
{
    if (rate == sound.rate || sound.frames == 0)
        return sound;
    WavSound out;
    out.rate = rate;
    out.channels = sound.channels;
    const double step = static_cast<double>(sound.rate) / static_cast<double>(rate);
    out.frames = static_cast<std::int64_t>(static_cast<double>(sound.frames) / step);
    for (std::int64_t channel = 0; channel < sound.channels; ++channel) {
        const float *const from = sound.samples.data() + channel * sound.frames;
        for (std::int64_t i = 0; i < out.frames; ++i) {
            const double place = static_cast<double>(i) * step;
            const auto left = std::min(static_cast<std::int64_t>(place), sound.frames - 1);
            const std::int64_t right = std::min(left + 1, sound.frames - 1);
            const double share = place - static_cast<double>(left);
            out.samples.push_back(static_cast<float>((1.0 - share) * static_cast<double>(from[left]) +
                                                     share * static_cast<double>(from[right])));
        }
    }
    return out;
}

} // namespace core
