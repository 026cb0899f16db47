// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/trace/trace.h"

#include <QString>

#include <span>
#include <string_view>

// How facts are written on screen: numbers grouped by the locale, sizes in MiB, NaN, +Inf and −Inf spelled
// so. What is copied uses exactNumber() and the C locale instead.
namespace views {

QString fromView(std::string_view text);

QString countText(std::uint64_t count);                     // "3,145,728"
QString shareText(std::uint64_t part, std::uint64_t whole); // "0.59 %", "0 %", "< 0.01 %"
QString bytesText(std::uint64_t bytes);                     // "2.79 GiB"
QString durationText(std::int64_t ns);                      // "0.74 ms"; "–" when not known
QString flopsText(std::int64_t flops);                      // "15.7 M"; "–" when not known
QString numberText(double value, int digits = 6);           // "−Inf", "1.79e-7"
QString exactNumber(double value);                          // C locale, reads back the same
QString dtypeText(core::DType dtype);                       // "fp16", "bf16", "int64", "bool"
QString shapeText(std::span<const std::int64_t> shape);
// "fp16 [4, 12, 256, 256]", "no tensor" without one.
QString tensorText(const core::Trace &trace, core::TensorId tensor);
// "[2, 0, 250, 218]" of a flat row-major index; "[]" for a scalar.
QString indexText(std::span<const std::int64_t> shape, std::uint64_t flat);

// The module's path for people: "h.7.attn", "model" (the class when known) for the root.
QString moduleText(const core::Trace &trace, core::ModuleId module);
// The number of the last op in execution order; 0 without one.
std::uint64_t lastStep(const core::Trace &trace);
// "model.py:116", empty when no line is known.
QString lineText(const core::Trace &trace, core::OpId op);
// TEXT with places such as "/a/b/model.py:116" written as the window writes them: "model.py:116".
QString withShortPlaces(const QString &text);
// MESSAGE ("the limit was reached: 3 more") as a sentence: a capital letter, unless it begins with a name
// ("aten::add", "capture_worker"), and a full stop.
QString asSentence(const QString &message);
// The last part of a path.
QString fileNameText(std::string_view path);
// "saved", "not saved", "too large", ...: the words of the window for a payload's state.
QString payloadText(core::PayloadState state);
// Why the values are not there and how to record them; empty when they are saved.
QString payloadRemedy(core::PayloadState state);

} // namespace views
