// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture/input_preparation.h"

#include "core/base/byte_source.h"
#include "core/capture/input_spec.h"
#include "core/capture/wav.h"
#include "core/io/npy.h"

#include <charconv>
#include <fstream>
#include <system_error>

namespace core {

class InputPreparation
{
public:
    InputPreparation(PreparedInputs &out, const ImageDecoder &decoder) : m_out(out), m_decoder(decoder) {}

    Status run()
    {
        CaptureRequest &request = m_out.m_request;
        for (InputText &input : request.inputs)
            if (Status status = prepareText(input); !status)
                return status;
        return request.inputsTree.empty() ? Status::ok() : prepareTree(request);
    }

private:
    static bool needsWork(const InputNode &node)
    {
        const auto *file = std::get_if<InputFile>(&node.leaf);
        if (file != nullptr && node.container == InputNode::Container::none)
            return file->kind == InputFileKind::image || file->kind == InputFileKind::wav ||
                   file->kind == InputFileKind::text;
        for (const InputNode &child : node.children)
            if (needsWork(child))
                return true;
        return false;
    }

    Status prepareText(InputText &input)
    {
        Result<NamedInput> parsed = parseInputOption(input.text);
        if (!parsed || !needsWork(parsed->node))
            return Status::ok(); // what is wrong with it the worker says
        const std::string name = input.name.empty() ? parsed->name : input.name;
        if (Status status = prepare(parsed->node, name); !status)
            return status.prefixed("input " + (name.empty() ? input.text : name));
        input.text = std::get<InputFile>(parsed->node.leaf).path.string();
        input.name = name;
        return Status::ok();
    }

    Status prepareTree(CaptureRequest &request)
    {
        Result<InputArguments> tree = readInputTree(request.inputsTree);
        if (!tree)
            return Status::ok();
        bool needed = false;
        for (const InputNode &node : tree->positional)
            needed = needed || needsWork(node);
        for (const NamedInput &input : tree->named)
            needed = needed || needsWork(input.node);
        if (!needed)
            return Status::ok();
        for (std::size_t i = 0; i < tree->positional.size(); ++i)
            if (Status status = prepareAll(tree->positional[i], "args[" + std::to_string(i) + ']'); !status)
                return status;
        for (NamedInput &input : tree->named)
            if (Status status = prepareAll(input.node, input.name); !status)
                return status;
        const std::filesystem::path path = m_out.m_folder.path() / "inputs.json";
        std::ofstream file(path);
        file << toJson(inputTreeValue(*tree));
        if (!file.flush())
            return {ErrorCode::unreadable, path.string() + " could not be written"};
        request.inputsTree = path.string();
        return Status::ok();
    }

    Status prepareAll(InputNode &node, const std::string &name)
    {
        for (std::size_t i = 0; i < node.children.size(); ++i)
            if (Status status = prepareAll(
                    node.children[i], name + '.' + (i < node.keys.size() ? node.keys[i] : std::to_string(i)));
                !status)
                return status;
        if (node.container != InputNode::Container::none || !needsWork(node))
            return Status::ok();
        const Status status = prepare(node, name);
        return status.isOk() ? status : status.prefixed("input " + name);
    }

    Status prepare(InputNode &node, const std::string &name)
    {
        InputFile &file = std::get<InputFile>(node.leaf);
        if (file.kind == InputFileKind::text)
            return refuseText();
        if (Status status = makeFolder(); !status)
            return status;
        return file.kind == InputFileKind::image ? prepareImage(file, name) : prepareSound(file, name);
    }

    // Encoding text is the tokenizer's affair, and no library for its files is packaged.
    Status refuseText() const
    {
        std::error_code error;
        const std::filesystem::path beside =
            std::filesystem::path(m_out.m_request.modelPath).parent_path() / "tokenizer.json";
        const bool there = std::filesystem::exists(beside, error);
        return Status(ErrorCode::unsupported,
                      there ? "text cannot be encoded here: " + beside.string() +
                                  " needs the Hugging Face tokenizers library"
                            : std::string(
                                  "text cannot be encoded here: there is no tokenizer.json beside the model, "
                                  "and no library that reads one"))
            .withDetail("no_tokenizer")
            .withRemedy("encode it in Python and give the ids: np.save(\"ids.npy\", "
                        "np.array([Tokenizer.from_file(\"tokenizer.json\").encode(text).ids])), then --input "
                        "ids.npy");
    }

    Status makeFolder()
    {
        if (m_out.m_folder.isMade())
            return Status::ok();
        Result<WorkFolder> folder = WorkFolder::make("inputs");
        if (!folder)
            return folder.status().prefixed("the inputs");
        m_out.m_folder = std::move(*folder);
        return Status::ok();
    }

    Status prepareImage(InputFile &file, const std::string &name)
    {
        const Result<ImageSpec> spec = parseImageSpec(file.entry);
        if (!spec)
            return spec.error();
        if (!m_decoder)
            return Status(ErrorCode::unsupported, "images are not decoded here")
                .withDetail("no_image_decoder");
        const Result<ImagePixels> pixels = m_decoder(file.path.string(), *spec);
        if (!pixels)
            return pixels.error();
        const std::vector<float> values = normalisedPixels(*pixels, *spec);
        return write(file, name, {1, spec->channels, pixels->height, pixels->width}, values,
                     imageSpecText(*spec));
    }

    Status prepareSound(InputFile &file, const std::string &name)
    {
        const auto parts = parseParts(file.entry);
        if (!parts)
            return parts.error();
        auto source = openFile(file.path);
        if (!source)
            return source.error();
        Result<WavSound> read = readWav(**source);
        if (!read)
            return read.error().prefixed(file.path.string());
        WavSound sound = *std::move(read);
        std::string how = std::to_string(sound.rate) + " Hz, " + std::to_string(sound.channels) + " channels";
        std::int64_t length = 0;
        for (const auto &[option, text] : *parts) {
            std::int64_t number = 0;
            const auto result = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool isNumber =
                result.ec == std::errc() && result.ptr == text.data() + text.size() && number > 0;
            if (option == "channels" && text == "1")
                sound = monoOf(sound);
            else if (option == "rate" && isNumber && number <= 1000000) {
                if (Status status = checkSize(sound, sound.frames,
                                              static_cast<double>(number) / static_cast<double>(sound.rate));
                    !status)
                    return status;
                sound = resampled(sound, number);
            } else if (option == "length" && isNumber)
                length = number;
            else
                return Status(ErrorCode::invalidArgument,
                              "sound option " + option + '=' + text +
                                  " is not known, only rate=N, channels=1, length=N");
            how += ", " + option + '=' + text;
        }
        if (Status status = checkSize(sound, length, 1.0); !status)
            return status;
        cut(sound, length);
        return write(file, name, {sound.channels, sound.frames}, sound.samples, how);
    }

    // Before it is made: FRAMES times TIMES samples a channel.
    static Status checkSize(const WavSound &sound, std::int64_t frames, double times)
    {
        constexpr double kMostSamples = 1 << 28;
        const double samples = static_cast<double>(sound.channels) * static_cast<double>(frames) * times;
        if (samples <= kMostSamples)
            return Status::ok();
        return Status(ErrorCode::limitExceeded, "the sound would have " + formatDouble(samples) +
                                                    " samples, at most " + formatDouble(kMostSamples) +
                                                    " are made");
    }

    // To LENGTH samples a channel: cut, or filled with silence.
    static void cut(WavSound &sound, std::int64_t length)
    {
        if (length == 0 || length == sound.frames)
            return;
        std::vector<float> samples(static_cast<std::size_t>(sound.channels * length), 0.0F);
        for (std::int64_t channel = 0; channel < sound.channels; ++channel)
            for (std::int64_t i = 0; i < std::min(length, sound.frames); ++i)
                samples[static_cast<std::size_t>(channel * length + i)] =
                    sound.samples[static_cast<std::size_t>(channel * sound.frames + i)];
        sound.samples = std::move(samples);
        sound.frames = length;
    }

    Status write(InputFile &file, const std::string &name, const std::vector<std::int64_t> &shape,
                 const std::vector<float> &values, const std::string &how)
    {
        const std::filesystem::path path =
            m_out.m_folder.path() / ("input_" + std::to_string(m_count++) + ".npy");
        std::ofstream out(path, std::ios::binary);
        const std::string header = npyHeader(DType::float32, shape);
        out.write(header.data(), static_cast<std::streamsize>(header.size()));
        out.write(reinterpret_cast<const char *>(values.data()),
                  static_cast<std::streamsize>(values.size() * sizeof(float)));
        if (!out.flush())
            return {ErrorCode::unreadable, path.string() + " could not be written"};
        Value shapeList = Value::list();
        for (const std::int64_t size : shape)
            shapeList.append(size);
        Value prepared = Value::object({{"input", name},
                                        {"file", file.path.string()},
                                        {"array", path.string()},
                                        {"dtype", "float32"},
                                        {"shape", std::move(shapeList)},
                                        {"how", how}});
        if (const std::string &tree = m_out.m_request.inputsTree; !tree.empty())
            prepared.set("tree", tree);
        m_out.m_request.preparedInputs.append(std::move(prepared));
        file = InputFile{path, InputFileKind::npy, {}};
        return Status::ok();
    }

    PreparedInputs &m_out;
    const ImageDecoder &m_decoder;
    std::size_t m_count = 0;
};

Result<PreparedInputs> PreparedInputs::make(const CaptureRequest &request, const ImageDecoder &decoder)
{
    PreparedInputs made(request);
    if (Status status = InputPreparation(made, decoder).run(); !status)
        return status;
    return made;
}

namespace {

// The options of a sound as they are written behind its file, of what is told about it: "44100 Hz, 2
// channels, rate=16000".
std::string soundOptions(std::string_view how)
{
    std::string options;
    while (!how.empty()) {
        const std::size_t end = std::min(how.find(", "), how.size());
        const std::string_view part = how.substr(0, end);
        if (part.find('=') != std::string_view::npos)
            options += (options.empty() ? "" : "&") + std::string(part);
        how.remove_prefix(std::min(end + 2, how.size()));
    }
    return options;
}

std::string textOfPrepared(const Value &prepared)
{
    const std::string &how = prepared.at("how").toString();
    const bool isSound = how.find(" Hz, ") != std::string::npos;
    const std::string options = isSound ? soundOptions(how) : how;
    return prepared.at("file").toString() + (options.empty() ? "" : "?" + options);
}

} // namespace

CaptureRequest requestAsGiven(CaptureRequest request)
{
    for (const Value &prepared : request.preparedInputs.toList()) {
        if (const std::string &tree = prepared.at("tree").toString(); !tree.empty())
            request.inputsTree = tree;
        for (InputText &input : request.inputs)
            if (input.text == prepared.at("array").toString())
                input.text = textOfPrepared(prepared);
    }
    request.preparedInputs = Value::list();
    return request;
}

std::string originAsGiven(const CaptureRequest &request, const std::string &origin)
{
    for (const Value &prepared : request.preparedInputs.toList()) {
        const std::string &array = prepared.at("array").toString();
        if (origin == array || origin == std::filesystem::path(array).filename().string())
            return prepared.at("file").toString() + " (" + prepared.at("how").toString() + ')';
    }
    return origin;
}

} // namespace core
