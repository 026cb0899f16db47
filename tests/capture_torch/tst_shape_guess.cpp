// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/library_ops.h"
#include "core/capture_torch/script_model.h"
#include "core/capture_torch/shape_guess.h"
#include "core/capture_torch/shape_probe.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/csrc/jit/frontend/resolver.h>
#include <torch/csrc/jit/frontend/sugared_value.h>

#include <QTemporaryDir>
#include <QtTest>

using namespace core;

namespace {

// Code may name the ops of "quantized" and "torchvision" as it names those of "torch".
class OpsResolver final : public torch::jit::Resolver
{
public:
    std::shared_ptr<torch::jit::SugaredValue> resolveValue(const std::string &name,
                                                           torch::jit::GraphFunction &,
                                                           const torch::jit::SourceRange &) override
    {
        if (name == "torch")
            return std::make_shared<torch::jit::BuiltinModule>("aten");
        if (name == "quantized" || name == "torchvision")
            return std::make_shared<torch::jit::BuiltinModule>(name);
        return nullptr;
    }
};

void define(torch::jit::Module &module, const std::string &code)
{
    module.define(code, std::make_shared<OpsResolver>());
}

// What is guessed for NET once it is saved and loaded again.
ShapeGuess guessFor(const torch::jit::Module &net)
{
    const QTemporaryDir folder;
    const std::filesystem::path file = folder.filePath("net.pt").toStdString();
    net.save(file.string());
    const Result<std::unique_ptr<ScriptModel>> model = ScriptModel::load(file);
    if (!model)
        throw std::runtime_error(model.error().message());
    const Result<ShapeGuess> guess = guessScriptInputs(**model, {}, JobContext());
    if (!guess)
        throw std::runtime_error(guess.error().message());
    return *guess;
}

// The first input guessed for NET; what is said where there is none.
std::string firstSpec(const torch::jit::Module &net)
{
    const ShapeGuess guess = guessFor(net);
    return guess.found ? guess.inputs.front().spec : guess.message;
}

// The weight of a layer as its quantized kernel keeps it.
c10::IValue packed(const char *op, std::vector<c10::IValue> more, at::IntArrayRef sizes)
{
    const at::Tensor weight = at::quantize_per_tensor(at::ones(sizes), 0.1, 0, at::kQInt8);
    std::vector<c10::IValue> stack = {weight, at::zeros({sizes[0]})};
    stack.insert(stack.end(), more.begin(), more.end());
    c10::Dispatcher::singleton().findSchemaOrThrow(op, "").callBoxed(&stack);
    return stack.front();
}

torch::jit::Module convolution(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel)
{
    torch::jit::Module layer("__torch__.torch.nn.modules.conv.Conv2d");
    layer.register_parameter("weight", at::ones({outputs, inputs, kernel, kernel}), false);
    define(layer, "def forward(self, x):\n    return torch.conv2d(x, self.weight)\n");
    return layer;
}

torch::jit::Module table(std::int64_t rows)
{
    torch::jit::Module layer("__torch__.torch.nn.modules.sparse.Embedding");
    layer.register_parameter("weight", at::ones({rows, 4}), false);
    define(layer, "def forward(self, x):\n    return torch.embedding(self.weight, x)\n");
    return layer;
}

} // namespace

// Kinds of models whose inputs are guessed, made here as their files are.
class TestShapeGuess : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        provideLibraryOps();
        at::globalContext().setQEngine(at::QEngine::FBGEMM);
    }

    // A detection model as a file names the op and takes a list of images without a batch dimension.
    void detectionModelsGetAListOfImages()
    {
        torch::jit::Module convolution("__torch__.torch.nn.modules.conv.Conv2d");
        convolution.register_parameter("weight", at::ones({4, 3, 3, 3}), false);
        define(convolution, "def forward(self, x):\n    return torch.conv2d(x, self.weight)\n");
        torch::jit::Module net("__torch__.Net");
        net.register_module("conv", convolution);
        define(net, "def forward(self, images: List[Tensor]) -> List[Tensor]:\n"
                    "    out: List[Tensor] = []\n"
                    "    for image in images:\n"
                    "        assert image.dim() == 3, \"images is expected to be a list of 3d tensors\"\n"
                    "        y = self.conv.forward(image.unsqueeze(0))\n"
                    "        boxes = y.flatten()[:400].view(-1, 4)\n"
                    "        out.append(torchvision.nms(boxes, boxes[:, 0], 0.5))\n"
                    "    return out\n");
        const ShapeGuess guess = guessFor(net);
        QVERIFY2(guess.found, guess.message.c_str());
        QCOMPARE(guess.inputs.front().spec, std::string("f32[3,224,224]=rand"));
        QVERIFY(guess.inputs.front().value.isTensorList());
    }

    // Quantized layers have no parameters; their packed weights say what goes in.
    void quantizedModels()
    {
        const c10::List<std::int64_t> ones({1, 1}), none({0, 0});
        const c10::IValue kernel = packed("quantized::conv2d_prepack", {ones, none, ones, 1}, {4, 3, 3, 3});
        torch::jit::Module convolution("__torch__.torch.ao.nn.intrinsic.quantized.modules.ConvReLU2d");
        convolution.register_attribute("_packed_params", kernel.type(), kernel);
        define(convolution, "def forward(self, x):\n"
                            "    return quantized.conv2d_relu(x, self._packed_params, 0.1, 0)\n");
        torch::jit::Module net("__torch__.Net");
        net.register_module("conv", convolution);
        define(net, "def forward(self, x):\n"
                    "    y = self.conv.forward(torch.quantize_per_tensor(x, 0.1, 0, 13))\n"
                    "    return torch.adaptive_avg_pool2d(y.dequantize(), [1, 1])\n");
        QCOMPARE(firstSpec(net), std::string("f32[1,3,224,224]=rand"));
    }

    void dynamicallyQuantizedLinear()
    {
        const c10::IValue kernel = packed("quantized::linear_prepack", {}, {4, 7});
        torch::jit::Module holder("__torch__.torch.ao.nn.quantized.modules.linear.LinearPackedParams");
        holder.register_attribute("_packed_params", kernel.type(), kernel);
        torch::jit::Module linear("__torch__.torch.ao.nn.quantized.dynamic.modules.linear.Linear");
        linear.register_module("_packed_params", holder);
        define(linear, "def forward(self, x):\n"
                       "    return quantized.linear_dynamic(x, self._packed_params._packed_params)\n");
        torch::jit::Module net("__torch__.Net");
        net.register_module("fc", linear);
        define(net, "def forward(self, x):\n    return self.fc.forward(x)\n");
        QCOMPARE(firstSpec(net), std::string("f32[1,7]=rand"));
    }

    // A model that takes the spectrum itself gets a second of sound, not what its first layer sees.
    void soundsForModelsThatTakeASpectrum()
    {
        torch::jit::Module convolution("__torch__.torch.nn.modules.conv.Conv1d");
        convolution.register_parameter("weight", at::ones({8, 161, 11}), false);
        define(convolution, "def forward(self, x):\n    return torch.conv1d(x, self.weight, None, [2])\n");
        torch::jit::Module net("__torch__.Net");
        net.register_module("conv", convolution);
        define(net, "def forward(self, sound):\n"
                    "    s = torch.stft(sound, 320, 160, return_complex=True)\n"
                    "    return self.conv.forward(torch.abs(s))\n");
        QCOMPARE(firstSpec(net), std::string("f32[1,16000]=rand"));
    }

    // Longer than any image: strides and pooling leave nothing of a short sound.
    void longSounds()
    {
        torch::jit::Module convolution("__torch__.torch.nn.modules.conv.Conv1d");
        convolution.register_parameter("weight", at::ones({8, 1, 80}), false);
        define(convolution, "def forward(self, x):\n    return torch.conv1d(x, self.weight, None, [16])\n");
        torch::jit::Module net("__torch__.Net");
        net.register_module("conv", convolution);
        define(net, "def forward(self, x):\n"
                    "    y = torch.max_pool1d(self.conv.forward(x), [50])\n"
                    "    return torch.sum(y, [2])\n");
        QCOMPARE(firstSpec(net), std::string("f32[1,1,16000]=rand"));
    }

    // Other layers over sounds do not use up the runs there are.
    void longSoundsOfDeepModels()
    {
        torch::jit::Module net("__torch__.Net");
        std::string code = "def forward(self, x):\n    y = x\n";
        std::int64_t inputs = 1;
        for (const std::int64_t outputs : {8, 12, 16, 20, 24}) {
            torch::jit::Module layer("__torch__.torch.nn.modules.conv.Conv1d");
            layer.register_parameter("weight", at::ones({outputs, inputs, 9}), false);
            define(layer, "def forward(self, x):\n    return torch.conv1d(x, self.weight, None, [4])\n");
            const std::string name = "layer" + std::to_string(outputs);
            net.register_module(name, layer);
            code += "    y = self." + name + ".forward(y)\n";
            inputs = outputs;
        }
        define(net, code + "    return torch.sum(y, [2])\n");
        QCOMPARE(firstSpec(net), std::string("f32[1,1,16000]=rand"));
    }

    // Words come first among the arguments, the sides of the picture are searched all the same.
    void wordsBeforeAPicture()
    {
        torch::jit::Module net("__torch__.Net");
        net.register_module("kinds", table(30));
        net.register_module("conv", convolution(4, 3, 8));
        net.register_parameter("places", at::ones({1, 4, 25, 25}), false);
        define(net, "def forward(self, a, b):\n"
                    "    y = torch.add(self.conv.forward(b), self.places)\n"
                    "    return torch.add(torch.mean(y, [2, 3]), "
                    "torch.mean(self.kinds.forward(a).transpose(1, 2), [2]))\n");
        const ShapeGuess guess = guessFor(net);
        QVERIFY2(guess.found, guess.message.c_str());
        QCOMPARE(guess.inputs[0].spec, std::string("i64[1,16]=randint(0,30)"));
        QCOMPARE(guess.inputs[1].spec, std::string("f32[1,3,32,32]=rand"));
    }

    // The table of positions has fewer rows than the first idea has tokens.
    void tokensUpToTheLastPosition()
    {
        torch::jit::Module net("__torch__.Net");
        for (const auto &[name, rows] : {std::pair("tokens", 100), std::pair("places", 12)}) {
            torch::jit::Module table("__torch__.torch.nn.modules.sparse.Embedding");
            table.register_parameter("weight", at::ones({rows, 4}), false);
            define(table, "def forward(self, x):\n    return torch.embedding(self.weight, x)\n");
            net.register_module(name, table);
        }
        define(net, "def forward(self, ids):\n"
                    "    places = torch.arange(torch.size(ids, 1))\n"
                    "    return torch.add(self.tokens.forward(ids), self.places.forward(places))\n");
        QCOMPARE(firstSpec(net), std::string("i64[1,12]=randint(0,100)"));
    }

    void picturesAndWordsInOneDict()
    {
        torch::jit::Module convolution("__torch__.torch.nn.modules.conv.Conv2d");
        convolution.register_parameter("weight", at::ones({4, 3, 3, 3}), false);
        define(convolution, "def forward(self, x):\n    return torch.conv2d(x, self.weight)\n");
        torch::jit::Module table("__torch__.torch.nn.modules.sparse.Embedding");
        table.register_parameter("weight", at::ones({40, 4}), false);
        define(table, "def forward(self, x):\n    return torch.embedding(self.weight, x)\n");
        torch::jit::Module net("__torch__.Net");
        net.register_module("conv", convolution);
        net.register_module("table", table);
        define(net,
               "def forward(self, batch: Dict[str, Tensor]):\n"
               "    picture = torch.mean(self.conv.forward(batch[\"image\"]), [2, 3])\n"
               "    return torch.add(picture, torch.mean(self.table.forward(batch[\"input_ids\"]), [1]))\n");
        const ShapeGuess guess = guessFor(net);
        QVERIFY2(guess.found, guess.message.c_str());
        const auto batch = guess.inputs.front().value.toGenericDict();
        QCOMPARE(batch.at("image").toTensor().sizes().vec(), (std::vector<std::int64_t>{1, 3, 224, 224}));
        QCOMPARE(batch.at("input_ids").toTensor().scalar_type(), at::kLong);
    }

    void bytesWithChannelsLast()
    {
        torch::jit::Module convolution("__torch__.torch.nn.modules.conv.Conv2d");
        convolution.register_parameter("weight", at::ones({4, 3, 3, 3}), false);
        define(convolution, "def forward(self, x):\n    return torch.conv2d(x, self.weight)\n");
        torch::jit::Module net("__torch__.Net");
        net.register_module("conv", convolution);
        define(net, "def forward(self, picture):\n"
                    "    assert picture.dtype == 0, \"the picture must be uint8\"\n"
                    "    return self.conv.forward(torch.permute(picture, [0, 3, 1, 2]).float())\n");
        QCOMPARE(firstSpec(net), std::string("u8[1,224,224,3]=randint(0,256)"));
    }

    // A diffusion network that looks its steps up, whatever the argument is called, beside classes and words.
    void stepsAndClassesThatAreLookedUp_data()
    {
        QTest::addColumn<QString>("step");
        QTest::addColumn<QString>("more");
        QTest::addColumn<QString>("code");
        QTest::addColumn<QStringList>("specs");
        const QStringList latent = {"f32[1,3,64,64]=rand", "i64[1]=randint(0,90)"};
        QTest::newRow("timesteps") << "timesteps"
                                   << ""
                                   << "" << latent;
        QTest::newRow("a name of its own") << "sigma_at"
                                           << ""
                                           << "" << QStringList{"f32[1,3,224,224]=rand", latent[1]};
        QTest::newRow("with a class")
            << "t"
            << ", kind"
            << "\n    s = s + self.kinds.forward(kind)" << latent + QStringList{"i64[1]=randint(0,7)"};
        QTest::newRow("with a context")
            << "t"
            << ", context"
            << "\n    s = s + torch.mean(torch.linear(context, torch.ones([4, 11])), [1])"
            << latent + QStringList{"f32[1,16,11]=rand"};
        QTest::newRow("in a view") << "t"
                                   << ""
                                   << "\n    s = s + self.steps.forward(t.view(-1))" << latent;
        QTest::newRow("with a row of words")
            << "t"
            << ", words"
            << "\n    s = s + torch.mean(self.kinds.forward(words).transpose(1, 2), [2])"
            << latent + QStringList{"i64[1,16]=randint(0,7)"};
    }
    void stepsAndClassesThatAreLookedUp()
    {
        QFETCH(QString, step);
        QFETCH(QString, more);
        QFETCH(QString, code);
        QFETCH(QStringList, specs);
        torch::jit::Module net("__torch__.Net");
        net.register_module("steps", table(90));
        net.register_module("kinds", table(7));
        net.register_module("conv", convolution(4, 3, 3));
        define(net, ("def forward(self, x, " + step + more + "):\n    s = self.steps.forward(" + step + ')' +
                     code + "\n    return torch.add(self.conv.forward(x), s[:, :, None, None])\n")
                        .toStdString());
        const ShapeGuess guess = guessFor(net);
        QVERIFY2(guess.found, guess.message.c_str());
        QStringList found;
        for (const GuessedInput &input : guess.inputs)
            found.append(QString::fromStdString(input.spec));
        QCOMPARE(found, specs);
    }

    void sizesInTheWordsOfAFailure()
    {
        using Sizes = std::pair<std::int64_t, std::int64_t>;
        QVERIFY(linearSizes("mat1 and mat2 shapes cannot be multiplied (2x8 and 16x3)") == Sizes(8, 16));
        QVERIFY(linearSizes("AssertionError: expecting key weights shape of (32, 1), but got [32, 48]") ==
                Sizes(1, 48));
        QVERIFY(!linearSizes("expecting key weights"));
        QVERIFY(isRankMessage("Expected 3-dimensional input for 3-dimensional weight [32, 1, 127], but got "
                              "4-dimensional input of size [1, 1, 1, 224] instead"));
        QVERIFY(isRankMessage(
            "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [1]"));
        QVERIFY(!isRankMessage(
            "Expected tensor for argument #1 'indices' to have one of the following scalar types"));
        const std::string channels = "The size of tensor a (64) must match the size of tensor b (3) at "
                                     "non-singleton dimension ";
        QVERIFY(wantedChannels(channels + "1", 64) == 3);
        QVERIFY(wantedChannels(channels + "1", 3) == 64);
        QVERIFY(!wantedChannels(channels + "1", 32));
        QVERIFY(!wantedChannels(channels + "2", 64));
    }

    // What happens to an image before its first layer says how many channels it has.
    void channelsThatAreAskedForBeforeAnyLayer()
    {
        torch::jit::Module net("__torch__.Net");
        net.register_module("conv", convolution(4, 64, 1));
        net.register_buffer("mean", at::zeros({1, 3, 1, 1}));
        define(net, "def forward(self, x):\n"
                    "    y = torch.sub(x, self.mean)\n"
                    "    y = torch.cat([y, y.repeat([1, 20, 1, 1]), y[:, :1]], 1)\n"
                    "    return self.conv.forward(y)\n");
        QCOMPARE(firstSpec(net), std::string("f32[1,3,224,224]=rand"));
    }

    // An image that is cut into patches for its first layer has more dimensions there, and no more numbers.
    void imagesThatAreCutIntoPatches()
    {
        torch::jit::Module linear("__torch__.torch.nn.modules.linear.Linear");
        linear.register_parameter("weight", at::ones({8, 8}), false);
        define(linear, "def forward(self, x):\n    return torch.linear(x, self.weight)\n");
        torch::jit::Module net("__torch__.Net");
        net.register_module("rows", linear);
        net.register_module("conv", convolution(4, 64, 1));
        net.register_buffer("mean", at::zeros({1, 3, 1, 1}));
        define(net, "def forward(self, x):\n"
                    "    y = torch.sub(x, self.mean)\n"
                    "    h, w = torch.size(x, 2) // 8, torch.size(x, 3) // 8\n"
                    "    y = y.view([1, 3, h, 8, w, 8]).permute([0, 2, 4, 1, 3, 5])\n"
                    "    y = self.rows.forward(y).reshape([h * w, 3, 64]).permute([1, 2, 0])\n"
                    "    return self.conv.forward(y.reshape([3, 64, h, w]))\n");
        QCOMPARE(firstSpec(net), std::string("f32[1,3,224,224]=rand"));
    }
};

QTEST_APPLESS_MAIN(TestShapeGuess)
#include "tst_shape_guess.moc"
