// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/capture_torch/shape_guess.h"

#include "core/capture_torch/shape_companions.h"
#include "core/capture_torch/shape_priors.h"
#include "core/capture_torch/shape_trial.h"
#include "core/capture_torch/torch_dtype.h"

#include <c10/util/accumulate.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace core {
namespace {

std::string shapeText(const std::vector<std::int64_t> &shape)
{
    std::string text = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    return text + ']';
}

// The search of reports.md section 11.17: one idea after another is run, and what the failure says decides
// what is tried next.
class Search
{
public:
    Search(const ScriptModel &model, const GuessOptions &options, const JobContext &job)
        : m_options(options), m_job(job), m_facts(shapeFactsOf(model)), m_arguments(m_facts.arguments),
          m_trial(model, m_facts, options, job)
    {
        preferLatents(m_arguments, m_options);
    }

    ShapeGuess run()
    {
        if (auto [reason, message] = refusal(); !reason.empty())
            return fail(std::move(reason), std::move(message));
        // The first tensor; without one the first argument that holds some.
        for (const bool held : {false, true})
            for (const ScriptArgument &argument : m_arguments)
                if (!argument.hasDefault && m_primary.empty() &&
                    (held ? argument.type.find("Tensor") != std::string::npos : argument.type == "Tensor"))
                    std::tie(m_primary, m_primaryType) = std::tie(argument.name, argument.type);
        if (m_primary.empty())
            return fail("non_shape_blocker", "forward takes no tensor: " + argumentText());
        const std::vector<ShapePrior> priors = shapePriors(m_facts, m_options);
        if (priors.empty())
            return fail("unknown_entry", "no layer and no parameter says anything about the input");
        const std::size_t alternatives = hasCompanions() ? companionAlternatives(priors.size()) : 1;
        for (m_alternative = 0; m_alternative < alternatives; ++m_alternative) {
            m_companionPriors = &priors;
            for (const ShapePrior &prior : priors) {
                if (isOver())
                    break;
                if (tryImages(prior) || tryPrior(prior))
                    return std::move(m_guess);
            }
            if (isOver())
                break;
        }
        return finishWithout();
    }

private:
    // A first idea that does not fit is no matter of sizes that could be tried.
    bool isOver() const
    {
        return m_probes >= m_options.maxProbes || m_trial.isStopped() ||
               (m_probes == 0 && !m_tooLarge.empty());
    }

    ShapeGuess fail(std::string reason, std::string message)
    {
        m_guess.found = false;
        m_guess.reason = std::move(reason);
        m_guess.message = std::move(message);
        return std::move(m_guess);
    }

    // What is refused before anything runs; the word and the sentence, empty when nothing is.
    std::pair<std::string, std::string> refusal() const
    {
        if (m_options.inputSpecs)
            return {"multi_input_unsupported",
                    "specifications of several inputs are not taken: give the inputs themselves"};
        if (!m_options.square)
            return {"exact_size_unreachable",
                    "sides of different length need the ratio between them, which no option gives"};
        if (m_facts.isLazy)
            return {"lazy_uninitialized", "the model has parameters that get their shapes in the first run"};
        return {};
    }

    std::string argumentText() const
    {
        std::string text;
        for (const ScriptArgument &argument : m_arguments)
            text += (text.empty() ? "" : ", ") + argument.name + ": " + argument.type;
        return text;
    }

    bool hasCompanions() const
    {
        return std::count_if(m_arguments.begin(), m_arguments.end(),
                             [](const ScriptArgument &argument) { return !argument.hasDefault; }) > 1;
    }

    // One run with the primary input made from PRIOR; the result is in m_last.
    bool probe(const ShapePrior &prior)
    {
        if (std::string why = tooLarge(m_facts, prior); !why.empty()) {
            m_last = ProbeResult();
            m_last.message = m_tooLarge = std::move(why);
            m_guess.attempts.push_back({prior.shape, m_tooLarge});
            return false;
        }
        ++m_probes;
        m_job.report("trying shapes", static_cast<std::uint64_t>(m_probes),
                     static_cast<std::uint64_t>(m_options.maxProbes));
        m_inputs = makeInputs(prior);
        m_last = m_trial.run(m_inputs);
        m_guess.attempts.push_back({prior.shape, m_last.ok ? "ok" : m_last.message});
        return m_last.ok;
    }

    GuessedInput primaryInput(const ShapePrior &prior) const
    {
        GuessedInput primary;
        primary.name = m_primary;
        primary.shape = prior.shape;
        primary.dtype = prior.dtype;
        primary.range = prior.range;
        return primary;
    }

    std::vector<GuessedInput> makeInputs(const ShapePrior &prior) const
    {
        std::vector<GuessedInput> inputs;
        const GuessedInput primary = primaryInput(prior);
        for (const ScriptArgument &argument : m_arguments) {
            if (argument.hasDefault)
                continue;
            inputs.push_back(argument.name == m_primary ? primary
                                                        : companionInput(argument, primary, m_facts,
                                                                         *m_companionPriors, m_alternative));
            inputs.back().type = argument.type;
            if (argument.name != m_primary || isFloating(prior.dtype))
                applyForms(m_indices, inputs.back());
            applyForms(m_widths, inputs.back());
            m_trial.fill(inputs.back());
        }
        return inputs;
    }

    // Detection models take a list of images, each without a batch dimension.
    bool tryImages(const ShapePrior &prior)
    {
        if (prior.kind != ShapePrior::Kind::conv || !m_primaryType.starts_with("List[Tensor") || isOver())
            return false;
        ShapePrior image = prior;
        image.kind = ShapePrior::Kind::norm; // the size is not searched: such models bring images to theirs
        image.shape.erase(image.shape.begin());
        image.flexible.clear();
        return tryPrior(image);
    }

    bool tryPrior(const ShapePrior &given)
    {
        ShapePrior prior = given;
        if (probe(prior))
            return accept(prior, true);
        if (m_trial.isStopped())
            return false;
        if (tryCompanions(prior))
            return true;
        if (const auto dtype = suggestedDtype(m_last.message);
            dtype && fromScalarType(*dtype) != prior.dtype && !isOver()) {
            ShapePrior corrected = withDtype(prior, fromScalarType(*dtype));
            if (probe(corrected)) {
                corrected.strategy = "dtype_corrected";
                return accept(corrected, false);
            }
        }
        if (prior.kind == ShapePrior::Kind::linear && m_last.target && !isOver() &&
            m_tried.insert(*m_last.target).second) {
            ShapePrior corrected = prior;
            corrected.shape = {m_options.batchSize, *m_last.target};
            if (probe(corrected)) {
                corrected.strategy = "executed_op_linear";
                return accept(corrected, true);
            }
        }
        if (prior.kind != ShapePrior::Kind::conv) {
            noteBlocker();
            return tryFewerTokens(prior);
        }
        return tryConv(std::move(prior));
    }

    // Inputs beside the first may be looked up in tables of their own, others be vectors of their own width.
    bool tryCompanions(const ShapePrior &prior)
    {
        constexpr int kMostSearches = 4;
        m_widths.clear();
        if (m_alternative > 0 || !hasCompanions() || m_searches >= kMostSearches || isOver())
            return false;
        if (tryIndices(prior))
            return true;
        std::vector<std::string> names = unnamedCompanions(m_facts, primaryInput(prior));
        std::erase_if(names, [&](const std::string &name) { return m_indices.count(name) > 0; });
        if (names.empty() || isOver())
            return false;
        ++m_searches;
        const CompanionForm single{{m_options.batchSize}, fromScalarType(m_facts.floating), {}};
        return searchWidths(names, single, m_widths, againOn(prior)) && accept(prior, true);
    }

    bool tryIndices(const ShapePrior &prior)
    {
        return hasCompanions() && searchIndices(primaryInput(prior), m_last, m_indices, againOn(prior)) &&
               accept(prior, true);
    }

    std::function<const ProbeResult &()> againOn(const ShapePrior &prior)
    {
        return [this, &prior]() -> const ProbeResult & {
            if (!isOver())
                probe(prior);
            return m_last;
        };
    }

    // Positions, kinds and tokens have tables of their own: a row beyond the smallest is not there.
    bool tryFewerTokens(const ShapePrior &prior)
    {
        if (prior.kind != ShapePrior::Kind::embedding || prior.shape.size() < 2 ||
            m_last.message.find("index out of range") == std::string::npos)
            return false;
        std::int64_t rows = static_cast<std::int64_t>(prior.range.high);
        for (const LayerFact &layer : m_facts.layers)
            if (layer.kind == LayerKind::embedding)
                rows = std::min(rows, layer.vocabulary);
        ShapePrior shorter = prior;
        shorter.shape[1] = std::min(prior.shape[1], rows);
        ShapePrior lower = prior;
        lower.range.high = static_cast<double>(rows);
        ShapePrior both = shorter;
        both.range = lower.range;
        for (const ShapePrior &other : {shorter, lower, both})
            if (!isOver() && probe(other))
                return accept(other, true);
        return false;
    }

    static ShapePrior withDtype(ShapePrior prior, DType dtype)
    {
        prior.dtype = dtype;
        const bool integer = !isFloating(dtype) && !isComplex(dtype) && dtype != DType::boolean;
        if (integer && prior.range.recipe != "randint")
            prior.range = {"randint", 0.0, dtype == DType::uint8 ? 256.0 : 2.0};
        return prior;
    }

    bool tryConv(ShapePrior prior)
    {
        if (const auto channels = wantedChannels(m_last.message, prior.shape[1]);
            channels && !m_options.channels && !isOver()) {
            prior.shape[1] = *channels;
            if (probe(prior)) {
                prior.strategy = "channel_corrected";
                return accept(prior, true);
            }
        }
        std::vector<std::pair<std::int64_t, std::int64_t>> measured; // side and features
        std::optional<std::int64_t> target;
        const auto measure = [&](std::int64_t side) {
            if (m_last.got && m_last.target) {
                measured.emplace_back(side, *m_last.got);
                target = m_last.target;
            }
        };
        measure(prior.shape[2]);
        bool blocked = false;
        for (const std::int64_t side : sides(prior)) {
            if (isOver())
                return false;
            if (probe(withSide(prior, side))) {
                ShapePrior found = withSide(prior, side);
                found.strategy = "probe_success";
                return accept(found, true);
            }
            if (tryIndices(withSide(prior, side)))
                return true;
            measure(side);
            if (isRankMessage(m_last.message))
                break;
            if (!m_last.got && !isSkippable(m_last.message)) {
                noteBlocker();
                blocked = true;
                break;
            }
        }
        if (prior.rank() == 3 && tryVideo(prior))
            return true;
        if (!measured.empty() && target && !blocked)
            return searchSide(prior);
        if (!blocked)
            noteBlocker();
        return false;
    }

    // Films are not cubes: a few frames of a larger image.
    bool tryVideo(const ShapePrior &prior)
    {
        constexpr std::pair<std::int64_t, std::int64_t> kFilms[] = {
            {16, 112}, {16, 224}, {8, 224}, {32, 224}};
        for (const auto &[frames, side] : kFilms) {
            if (isOver() || side > m_options.maxSize)
                return false;
            ShapePrior film = withSide(prior, side);
            film.shape[2] = frames;
            film.strategy = "probe_success";
            if (probe(film))
                return accept(film, true);
        }
        return false;
    }

    static ShapePrior withSide(ShapePrior prior, std::int64_t side)
    {
        std::fill(prior.shape.begin() + 2, prior.shape.end(), side);
        return prior;
    }

    std::vector<std::int64_t> sides(const ShapePrior &prior) const
    {
        std::vector<std::int64_t> all = m_options.preferredSizes;
        for (const std::int64_t side : {std::int64_t(32), std::int64_t(28), std::int64_t(16), std::int64_t(8),
                                        m_options.minSize, m_options.maxSize})
            all.push_back(side);
        const std::int64_t low = std::max({m_options.minSize, prior.minSide, std::int64_t(1)});
        std::vector<std::int64_t> out;
        for (const std::int64_t side : all)
            if (side >= low && side <= m_options.maxSize && side != prior.shape[2] &&
                std::find(out.begin(), out.end(), side) == out.end())
                out.push_back(side);
        constexpr std::int64_t kSecond = 16'000; // of sound
        if (prior.rank() == 1 && prior.shape[1] == 1 && m_options.maxSize == GuessOptions().maxSize)
            out.push_back(kSecond);
        return out;
    }

    // The side whose features are the ones wanted: they grow with it.
    bool searchSide(const ShapePrior &prior)
    {
        std::int64_t low = std::max({m_options.minSize, prior.minSide, std::int64_t(1)});
        std::int64_t high = m_options.maxSize;
        const auto tryAt = [&](std::int64_t side) {
            if (!probe(withSide(prior, side)))
                return false;
            ShapePrior found = withSide(prior, side);
            found.strategy = "binary_search";
            return accept(found, true);
        };
        while (low <= high && !isOver()) {
            const std::int64_t middle = low + (high - low) / 2;
            if (tryAt(middle))
                return true;
            if (m_last.got && m_last.target ? *m_last.got < *m_last.target : isSkippable(m_last.message))
                low = middle + 1;
            else if (m_last.got)
                high = middle - 1;
            else {
                noteBlocker();
                return false;
            }
        }
        const std::int64_t begin = std::max<std::int64_t>(low - 4, 1);
        for (std::int64_t side = begin; side <= std::min(low + 4, m_options.maxSize) && !isOver(); ++side)
            if (tryAt(side))
                return true;
        return false;
    }

    void noteBlocker()
    {
        if (!m_last.message.empty() && !isSkippable(m_last.message))
            m_blockers.push_back(m_last.message);
    }

    // A run that went through: is it the shape that is meant?
    bool accept(ShapePrior prior, bool normalise)
    {
        // The spectrum of a sound and the patches of an image have dimensions of their own.
        const bool patches =
            prior.kind == ShapePrior::Kind::conv && m_last.constraint &&
            c10::multiply_integers(m_last.constraint->inputShape) == c10::multiply_integers(prior.shape);
        const bool spectrum = m_facts.takesSpectrum && prior.kind == ShapePrior::Kind::waveform;
        if (!spectrum && !patches && isInflated(prior.shape, m_last.constraint)) {
            m_guess.attempts.back().outcome =
                "ok_but_rank_inflated: the first layer saw " + shapeText(m_last.constraint->inputShape);
            ++m_rankRejections;
            return false;
        }
        if (normalise)
            normalised(prior);
        describe(prior);
        probeFlexible(prior);
        m_guess.found = true;
        return true;
    }

    // A linear layer that was fed more dimensions than it needs: what it asks for itself is the simpler
    // input.
    void normalised(ShapePrior &prior)
    {
        const auto &constraint = m_last.constraint;
        if (prior.isSequence() || prior.kind == ShapePrior::Kind::embedding ||
            prior.kind == ShapePrior::Kind::waveform || !constraint || hasCompanions() ||
            (constraint->kind != InputConstraint::Kind::linear &&
             constraint->kind != InputConstraint::Kind::matmul) ||
            constraint->inputShape.size() <= 2 || isOver())
            return;
        ShapePrior plain = prior;
        plain.shape = {constraint->inputShape[0], constraint->needed};
        plain.flexible.clear();
        const ProbeResult before = m_last;
        const std::vector<GuessedInput> inputs = m_inputs;
        if (probe(plain) && !isInflated(plain.shape, m_last.constraint)) {
            prior = plain;
            prior.kind = ShapePrior::Kind::linear;
            prior.strategy = "executed_op_normalize";
            return;
        }
        m_last = before;
        m_inputs = inputs;
    }

    void describe(const ShapePrior &prior)
    {
        m_guess.inputs = m_inputs;
        m_guess.strategy = prior.strategy;
        const auto &constraint = m_last.constraint;
        // Python runs a layer with the batch in front as one op, which says nothing of its input.
        const bool oneOp =
            prior.kind == ShapePrior::Kind::transformer && prior.flexible == std::vector<std::int64_t>{1};
        if (constraint && !oneOp) {
            m_guess.constrainingModule = constraint->moduleCall;
            m_guess.constrainingOp = constraint->label;
            m_guess.sourceLine = constraint->sourceLine;
        } else if (prior.isSequence() || prior.kind == ShapePrior::Kind::groupNorm) {
            m_guess.constrainingModule = prior.module;
            m_guess.constrainingOp = prior.op;
        } else {
            m_guess.constrainingOp = prior.op;
            if (!prior.module.empty())
                m_guess.constrainingModule = prior.module;
        }
        for (GuessedInput &input : m_guess.inputs)
            if (input.name == m_primary && constraint && input.range.recipe == "randint" &&
                constraint->kind == InputConstraint::Kind::embedding)
                if (input.range.high != static_cast<double>(constraint->needed)) {
                    input.range = {"randint", 0.0, static_cast<double>(constraint->needed)};
                    m_trial.fill(input);
                }
        m_guess.message = "found " + shapeText(prior.shape) + " (" + prior.strategy + ')';
        const bool feature = constraint && (constraint->kind == InputConstraint::Kind::linear ||
                                            constraint->kind == InputConstraint::Kind::matmul);
        if (prior.shape.size() == 2 && isFloating(prior.dtype) && (feature || !constraint))
            m_guess.message += "; only the last size is asked for, inputs with more dimensions may run too";
    }

    std::vector<std::int64_t> flexibleOf(const ShapePrior &prior) const
    {
        using Kind = InputConstraint::Kind;
        if (!m_last.constraint)
            return prior.flexible;
        if (m_last.constraint->kind == Kind::conv) {
            if (prior.kind == ShapePrior::Kind::waveform)
                return prior.flexible;
            if (!m_last.ranAdaptivePool || prior.kind != ShapePrior::Kind::conv)
                return {};
            std::vector<std::int64_t> all;
            for (std::size_t i = 0; i < prior.rank(); ++i)
                all.push_back(static_cast<std::int64_t>(i) + 2);
            return all;
        }
        const bool says = prior.kind == ShapePrior::Kind::embedding || prior.isSequence() ||
                          prior.kind == ShapePrior::Kind::groupNorm;
        return says ? prior.flexible : std::vector<std::int64_t>();
    }

    // A dimension is called flexible when a run with four more of it goes through.
    void probeFlexible(const ShapePrior &prior)
    {
        m_guess.flexibleDims = flexibleOf(prior);
        if (m_guess.flexibleDims.empty() || isOver())
            return;
        ShapePrior longer = prior;
        for (const std::int64_t dimension : m_guess.flexibleDims)
            longer.shape[static_cast<std::size_t>(dimension)] += 4;
        const std::vector<GuessedInput> inputs = m_inputs;
        if (!probe(longer))
            m_guess.flexibleDims.clear();
        m_inputs = inputs;
    }

    ShapeGuess finishWithout()
    {
        if (m_job.isCancelled())
            return fail("cancelled", "stopped while shapes were tried");
        if (m_trial.isStopped())
            return fail("budget_exhausted", "no shape was found within the time limit");
        if (m_probes == 0 && !m_tooLarge.empty())
            return fail("budget_exhausted", m_tooLarge);
        if (m_probes >= m_options.maxProbes)
            return fail("budget_exhausted",
                        "no shape was found within " + std::to_string(m_options.maxProbes) + " runs");
        for (const std::string &blocker : m_blockers)
            if (isDeviceMessage(blocker))
                return fail("device_mismatch", "the model mixes devices: " + blocker);
        if (m_rankRejections > 0)
            return fail("rank_undetermined",
                        "runs went through, but a layer saw more dimensions than were given");
        if (hasCompanions())
            return fail("multi_input_required",
                        "forward takes several inputs, and none that were tried fit: " + argumentText() +
                            "; the last run said: " + lastWords());
        if (!m_blockers.empty() || sameWords())
            return fail("non_shape_blocker",
                        "the model fails for another reason than the shape: " + lastWords());
        return fail("exact_size_unreachable",
                    "no square input has the size that is asked for (the aspect ratio may be another): " +
                        lastWords());
    }

    std::string lastWords() const
    {
        if (!m_blockers.empty())
            return m_blockers.back();
        return m_guess.attempts.empty() ? std::string() : m_guess.attempts.back().outcome;
    }

    // The same words for three different shapes: the shape is not what is wrong.
    bool sameWords() const
    {
        std::set<std::vector<std::int64_t>> shapes;
        for (const GuessAttempt &attempt : m_guess.attempts)
            if (attempt.outcome == m_guess.attempts.back().outcome)
                shapes.insert(attempt.shape);
        return shapes.size() >= 3 && !m_last.got;
    }

    GuessOptions m_options;
    const JobContext &m_job;
    ShapeFacts m_facts;
    std::vector<ScriptArgument> m_arguments;
    ShapeTrial m_trial;
    std::string m_primary;
    std::string m_primaryType;
    const std::vector<ShapePrior> *m_companionPriors = nullptr;
    std::size_t m_alternative = 0;
    std::int64_t m_probes = 0;
    int m_rankRejections = 0;
    ProbeResult m_last;
    std::vector<GuessedInput> m_inputs; // of the last run
    CompanionForms m_widths;            // of companions that the layers told about
    CompanionForms m_indices;           // of companions that are looked up
    int m_searches = 0;                 // for widths
    std::string m_tooLarge;             // why an input was not even made, the last one
    std::set<std::int64_t> m_tried;
    std::vector<std::string> m_blockers;
    ShapeGuess m_guess;
};

} // namespace

const GuessedInput *ShapeGuess::primary() const
{
    for (const GuessedInput &input : inputs)
        if (input.dtype != DType::unknown)
            return &input;
    return nullptr;
}

Result<ShapeGuess> guessScriptInputs(const ScriptModel &model, const GuessOptions &options,
                                     const JobContext &job)
{
    ShapeGuess guess = Search(model, options, job).run();
    if (job.isCancelled())
        return Status(ErrorCode::cancelled, "cancelled while shapes were tried");
    return guess;
}

} // namespace core
