// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/base/result.h"
#include "core/base/value.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace core {

// How the elements of a specified tensor are made. The random ones use the run's seed.
enum class TensorFill {
    zeros,
    ones,
    full,    // TensorSpec::value everywhere
    arange,  // 0, 1, 2, ... in row-major order
    eye,     // ones on the diagonal of the last two dimensions
    rand,    // uniform in [0, 1)
    randn,   // standard normal
    randint, // whole numbers in [TensorSpec::low, TensorSpec::high)
};

// "f32[1,3,224,224]=randn": dtype, shape, fill. Without "=..." floating and complex types are filled by
// randn, others by zeros.
struct TensorSpec
{
    DType dtype = DType::float32;
    std::vector<std::int64_t> shape;
    TensorFill fill = TensorFill::zeros;
    double value = 0.0;
    std::optional<std::int64_t> exact; // VALUE, where a double rounds it
    std::int64_t low = 0;
    std::int64_t high = 0;

    bool operator==(const TensorSpec &) const = default;
};

// image, wav, text: made into arrays before a worker starts (input_preparation.h).
enum class InputFileKind { npy, npz, torchSave, safetensors, image, wav, text };

// A file that holds one tensor (or, for .npz, .pt and .safetensors, named ones: exactly one, or the one
// called ENTRY). Of an image or a sound ENTRY says how it is made into one ("resize=256&crop=224"); of a text
// PATH is the text itself.
struct InputFile
{
    std::filesystem::path path;
    InputFileKind kind = InputFileKind::npy;
    std::string entry;

    bool operator==(const InputFile &) const = default;
};

// One argument of the model as the user describes it: a leaf (null for None, a Python scalar, a
// specification, a file) or a container of such. Plain data; nothing is read or allocated before the run.
struct InputNode
{
    enum class Container { none, list, tuple, dict };

    std::variant<Value, TensorSpec, InputFile>
        leaf; // of a Value only null, bool, int, double, string are used
    Container container = Container::none;
    std::vector<std::string> keys; // of a dict, in the file's order; parallel to children
    std::vector<InputNode> children;

    bool operator==(const InputNode &) const = default;
};

// An --input on the command line: a name or none, and what it says.
struct NamedInput
{
    std::string name; // "" is the next one in order
    InputNode node;

    bool operator==(const NamedInput &) const = default;
};

// What a model is called with. Named ones may stand for positional arguments too: the model's argument names
// decide.
struct InputArguments
{
    std::vector<InputNode> positional;
    std::vector<NamedInput> named;

    bool isEmpty() const { return positional.empty() && named.empty(); }
    bool operator==(const InputArguments &) const = default;
};

// "f32[2,3]=randn", "i64[8]=randint(0,100)", "b8[4]=1", "f64[]=3.5", "c64[2]=zeros". invalidArgument names
// the part that is wrong.
Result<TensorSpec> parseTensorSpec(std::string_view text);
std::string formatTensorSpec(const TensorSpec &spec); // reads back the same

// The text of one --input: a dtype name followed by "[" is a specification; NAME=... names an input (what
// follows is read by these rules again, without a name); a number, true, false or none is that Python value;
// anything else is a file by its suffix (.npy, .npz, .pt, .pth, .bin, .safetensors; "FILE:ENTRY" picks one of
// several tensors;
// .png, .jpg, .jpeg, .bmp, .gif, .webp, .tif, .tiff, .ppm, .pgm and .wav with options behind "?":
// "cat.jpg?resize=256&crop=224"); "text:..." is text.
Result<NamedInput> parseInputOption(std::string_view text);

// {"args": [{"tensor": "x.npy"}, {"image": "cat.jpg", "options": "crop=224"}, {"audio": "a.wav"},
// {"text": "..."}, {"value": 3}, {"spec": "f32[2]=ones"}, {"dict": {...}}, {"list": [...]},
// {"tuple": [...]}], "kwargs": {...}}; other members are ignored (the file may hold shapes beside). Files are
// relative to BASE. corrupt or invalidArgument name the place ("args[1].dict.mask").
Result<InputArguments> parseInputTree(const Value &tree, const std::filesystem::path &base);
Result<InputArguments> readInputTree(const std::filesystem::path &file);
Value inputTreeValue(const InputArguments &arguments); // reads back the same by parseInputTree

} // namespace core
