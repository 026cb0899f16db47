// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/capture/capture_request.h"
#include "core/capture/image_spec.h"
#include "core/io/work_folder.h"

namespace core {

// Images and sounds of a request made into .npy files that capture_worker reads: it gets plain arrays only.
// The files are in a folder of their own that goes with this object; keep it until the worker is gone.
class PreparedInputs
{
public:
    // REQUEST as it is when it names neither. What was made of each file is stated in
    // request().preparedInputs. Errors name the input: notFound, unreadable, corrupt, unsupported (text, for
    // which there is no tokenizer here; an image without DECODER).
    static Result<PreparedInputs> make(const CaptureRequest &request, const ImageDecoder &decoder);

    const CaptureRequest &request() const { return m_request; }

private:
    friend class InputPreparation;
    explicit PreparedInputs(CaptureRequest request) : m_request(std::move(request)) {}

    CaptureRequest m_request;
    WorkFolder m_folder; // made when it is needed
};

// REQUEST as it was before PreparedInputs: images and sounds instead of the arrays that were made of them,
// which are gone with their folder. For running a recorded request again.
CaptureRequest requestAsGiven(CaptureRequest request);

// ORIGIN of an input of REQUEST; where that is an array made here, the image or sound and how it was made.
std::string originAsGiven(const CaptureRequest &request, const std::string &origin);

} // namespace core
