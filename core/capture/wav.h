// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/byte_source.h"
#include "core/base/result.h"

#include <cstdint>
#include <vector>

namespace core {

// What a RIFF WAVE file holds: samples from -1 to 1, channel after channel.
struct WavSound
{
    std::int64_t rate = 0; // samples a second
    std::int64_t channels = 0;
    std::int64_t frames = 0; // samples of one channel
    std::vector<float> samples;
};

// PCM of 8, 16, 24 or 32 bits and floats of 32 or 64. corrupt (bad_wav) when it is no such file; unsupported
// (wav_format) for compressed ones; limitExceeded above 256 MiB.
Result<WavSound> readWav(const ByteSource &source);

// One channel, the mean of all.
WavSound monoOf(const WavSound &sound);
// At RATE samples a second, by straight lines between neighbours.
WavSound resampled(const WavSound &sound, std::int64_t rate);

} // namespace core
