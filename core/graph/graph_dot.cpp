// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/graph/graph_dot.h"

#include "core/draw/theme_table.h"
#include "core/graph/graph_look.h"

#include <fmt/format.h>

#include <vector>

namespace core {

namespace {

std::string quotedDotText(std::string_view text)
{
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\')
            out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out + "\"";
}

std::string color(ColorToken token)
{
    return fmt::format("\"#{:06x}\"", themeRgb(ThemeScheme::light, token));
}

class DotWriter
{
public:
    explicit DotWriter(const GraphPicture &picture) : m_picture(picture), m_children(picture.clusters.size())
    {
        for (std::uint32_t i = 1; i < picture.clusters.size(); ++i)
            m_children[picture.clusters[i].parent].push_back(i);
        m_boxes.resize(picture.clusters.size());
        for (std::uint32_t i = 0; i < picture.boxes.size(); ++i)
            m_boxes[picture.boxes[i].cluster].push_back(i);
    }

    std::string write(const std::string &title)
    {
        m_out = "digraph " + quotedDotText(title) +
                " {\n  rankdir=TB;\n  node [shape=box, style=\"rounded,filled\", fontname=\"Inter\", "
                "fontsize=11];\n"
                "  edge [fontname=\"Inter\", fontsize=9];\n";
        writeCluster(0);
        for (const PictureEdge &edge : m_picture.edges)
            writeEdge(edge);
        return m_out + "}\n";
    }

private:
    // Clusters may nest as deep as the file says: an explicit stack, closing braces in turn.
    void writeCluster(std::uint32_t root)
    {
        struct Step
        {
            std::uint32_t cluster;
            bool closes;
        };
        std::vector<Step> steps = {{root, false}};
        while (!steps.empty()) {
            const Step step = steps.back();
            steps.pop_back();
            if (step.closes) {
                m_out += "  }\n";
                continue;
            }
            if (step.cluster != 0) {
                const PictureCluster &cluster = m_picture.clusters[step.cluster];
                m_out += fmt::format("  subgraph cluster_{} {{\n  label={}; style=rounded; color={};\n",
                                     step.cluster, quotedDotText(cluster.title + "  " + cluster.subtitle),
                                     color(ColorToken::nodeb));
                steps.push_back({step.cluster, true});
            }
            for (const std::uint32_t box : m_boxes[step.cluster])
                writeBox(box);
            for (const std::uint32_t child : m_children[step.cluster])
                steps.push_back({child, false});
        }
    }

    void writeBox(std::uint32_t index)
    {
        const PictureBox &box = m_picture.boxes[index];
        const StateLook look = lookOf(box);
        std::string label = box.title;
        if (!box.subtitle.empty())
            label += "\n" + box.subtitle;
        for (const PictureBadge &badge : box.badges)
            label += "\n" + badge.text;
        m_out += fmt::format("  b{} [label={}, fillcolor={}, color={}, penwidth={:.0f}{}];\n", index,
                             quotedDotText(label), color(look.fill), color(look.stroke), look.strokeWidth,
                             box.unchecked ? ", style=\"rounded,filled,dashed\"" : "");
    }

    void writeEdge(const PictureEdge &edge)
    {
        const EdgeLook look = edgeLook(edge.kind);
        static constexpr std::string_view kStyles[] = {"solid", "dashed", "dotted"};
        m_out += fmt::format("  b{} -> b{} [color={}, penwidth={:.1f}, style={}, tooltip={}];\n", edge.from,
                             edge.to, color(look.color), look.width,
                             kStyles[static_cast<std::size_t>(look.dash)], quotedDotText(edge.label));
    }

    const GraphPicture &m_picture;
    std::vector<std::vector<std::uint32_t>> m_children;
    std::vector<std::vector<std::uint32_t>> m_boxes;
    std::string m_out;
};

} // namespace

std::string graphDot(const GraphPicture &picture, const std::string &title)
{
    return DotWriter(picture).write(title);
}

} // namespace core
