// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/render/svg_writer.h"

#include "core/draw/glyph_paths.h"

#include <fmt/format.h>

#include <iterator>
#include <map>

namespace render {

namespace {

std::string escaped(std::string_view text)
{
    std::string out;
    for (const char c : text) {
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            // XML has no way to say most control characters.
            out += static_cast<unsigned char>(c) < 32 && c != '\t' && c != '\n' ? ' ' : c;
        }
    }
    return out;
}

class SvgWriter
{
public:
    SvgWriter(const core::DrawList &list, core::ThemeScheme scheme) : m_list(list), m_scheme(scheme) {}

    std::string write()
    {
        for (const core::DrawItem &item : m_list.items())
            writeItem(item);
        const core::Rect box = m_list.bounds();
        std::string out = fmt::format(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
            "width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"{2:.2f} {3:.2f} {0:.2f} {1:.2f}\">\n<defs>\n",
            box.width, box.height, box.x, box.y);
        for (const auto &[id, pattern] : m_patterns)
            out += pattern;
        return out + "</defs>\n" + m_body + "</svg>\n";
    }

private:
    std::string hex(core::ColorToken token) const
    {
        return token == core::ColorToken::none ? "none"
                                               : fmt::format("#{:06x}", core::themeRgb(m_scheme, token));
    }

    std::string hatchId(core::Hatch hatch, core::ColorToken token)
    {
        const bool dense = hatch == core::Hatch::dense;
        const std::string id =
            fmt::format("hatch-{}-{}", dense ? "dense" : "sparse", core::colorTokenName(token));
        const int size = dense ? 5 : 8;
        m_patterns.try_emplace(
            id, fmt::format(
                    "<pattern id=\"{0}\" width=\"{1}\" height=\"{1}\" patternUnits=\"userSpaceOnUse\"><path "
                    "d=\"M-1,{2} L{2},-1 M-1,1 L1,-1 M{3},{2} L{2},{3}\" stroke=\"{4}\" "
                    "stroke-width=\"{5}\"/></pattern>\n",
                    id, size, size + 1, size - 1, hex(token), dense ? 1.8 : 1.0));
        return id;
    }

    std::string style(const core::Paint &paint) const
    {
        std::string out = fmt::format(" fill=\"{}\"", hex(paint.fill));
        if (paint.stroke != core::ColorToken::none)
            out +=
                fmt::format(" stroke=\"{}\" stroke-width=\"{:.2g}\"", hex(paint.stroke), paint.strokeWidth);
        if (paint.dash == core::Dash::dashed)
            out += " stroke-dasharray=\"5 4\"";
        else if (paint.dash == core::Dash::dotted)
            out += " stroke-dasharray=\"0.1 4.5\" stroke-linecap=\"round\"";
        if (paint.opacity < 1.0F)
            out += fmt::format(" opacity=\"{:.2f}\"", paint.opacity);
        return out;
    }

    void rect(const core::DrawItem &item, const std::string &attributes)
    {
        m_body += fmt::format(
            "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" rx=\"{:.2g}\"{}/>\n",
            item.box.x, item.box.y, item.box.width, item.box.height, item.radius, attributes);
    }

    std::string pointList(std::span<const core::Point> points) const
    {
        std::string out;
        for (const core::Point &point : points)
            fmt::format_to(std::back_inserter(out), "{}{:.2f},{:.2f}", out.empty() ? "" : " ", point.x,
                           point.y);
        return out;
    }

    void text(const core::DrawItem &item)
    {
        static constexpr std::string_view kAnchor[] = {"start", "middle", "end"};
        const double share = item.align == core::TextAlign::left     ? 0.0
                             : item.align == core::TextAlign::center ? 0.5
                                                                     : 1.0;
        const bool mono = item.font.family == core::FontFamily::mono;
        const int weight = item.font.weight == core::FontWeight::semibold ? 600
                           : item.font.weight == core::FontWeight::medium ? 500
                                                                          : 400;
        m_body += fmt::format(
            "<text x=\"{:.2f}\" y=\"{:.2f}\" font-family=\"{}\" font-size=\"{:.4g}\" "
            "font-weight=\"{}\" text-anchor=\"{}\" xml:space=\"preserve\"{}>{}</text>\n",
            item.box.x + item.box.width * share, item.box.center().y + item.font.size * 0.36,
            mono ? "'JetBrains Mono', monospace" : "Inter, sans-serif", item.font.size, weight,
            kAnchor[static_cast<std::size_t>(item.align)], style(item.paint), escaped(m_list.textOf(item)));
    }

    void glyph(const core::DrawItem &item)
    {
        const double scale = item.box.width / core::kGlyphBox;
        m_body += fmt::format("<g transform=\"translate({:.2f} {:.2f}) scale({:.4f})\" opacity=\"{:.2f}\">",
                              item.box.x, item.box.y, scale, item.paint.opacity);
        const std::string ink = hex(item.paint.fill);
        for (const core::GlyphPath &path : core::glyphPaths(item.glyph)) {
            const std::string paint = path.filled
                                          ? fmt::format("fill=\"{}\"", ink)
                                          : fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"{:.2g}\" "
                                                        "stroke-linejoin=\"round\" stroke-linecap=\"round\"",
                                                        ink, path.strokeWidth);
            if (path.circle)
                m_body +=
                    fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:.2f}\" {}/>", path.points[0].x,
                                path.points[0].y, path.points[1].x - path.points[0].x, paint);
            else
                m_body += fmt::format("<{} points=\"{}\" {}/>", path.closed ? "polygon" : "polyline",
                                      pointList(path.points), paint);
        }
        m_body += "</g>\n";
    }

    void writeItem(const core::DrawItem &item)
    {
        switch (item.kind) {
        case core::DrawKind::rect:
            rect(item, style(item.paint));
            if (item.paint.hatch != core::Hatch::none)
                rect(item,
                     fmt::format(" fill=\"url(#{})\"", hatchId(item.paint.hatch, item.paint.hatchColor)));
            break;
        case core::DrawKind::ellipse:
            m_body += fmt::format("<ellipse cx=\"{:.2f}\" cy=\"{:.2f}\" rx=\"{:.2f}\" ry=\"{:.2f}\"{}/>\n",
                                  item.box.center().x, item.box.center().y, item.box.width / 2.0,
                                  item.box.height / 2.0, style(item.paint));
            break;
        case core::DrawKind::polyline:
            m_body += fmt::format("<polyline points=\"{}\"{}/>\n", pointList(m_list.points(item)),
                                  style(item.paint));
            break;
        case core::DrawKind::polygon:
            m_body += fmt::format("<polygon points=\"{}\"{}/>\n", pointList(m_list.points(item)),
                                  style(item.paint));
            break;
        case core::DrawKind::text:
            text(item);
            break;
        case core::DrawKind::glyph:
            glyph(item);
            break;
        }
    }

    const core::DrawList &m_list;
    core::ThemeScheme m_scheme;
    std::string m_body;
    std::map<std::string, std::string> m_patterns;
};

} // namespace

core::DrawList framedPicture(const core::DrawList &list, const PictureFrame &frame)
{
    const core::Rect inner = list.bounds();
    const double titleHeight = frame.title.empty() ? 0.0 : 28.0;
    const double footerHeight =
        frame.footer.empty() ? 0.0 : 12.0 + 18.0 * static_cast<double>(frame.footer.size());
    const core::TextStyle title = {core::FontFamily::words, core::FontWeight::semibold, 15.0F};
    const core::TextStyle small = {core::FontFamily::words, core::FontWeight::regular, 12.0F};
    double width = std::max(inner.width, core::textWidth(frame.title, title));
    for (const std::string &line : frame.footer)
        width = std::max(width, core::textWidth(line, small));
    core::DrawList out;
    core::Paint ground;
    ground.fill = core::ColorToken::canvas;
    out.rect({0.0, 0.0, width + 2.0 * frame.margin,
              inner.height + 2.0 * frame.margin + titleHeight + footerHeight},
             ground);
    out.text({frame.margin, frame.margin, width, 20.0}, frame.title, title, core::ColorToken::text);
    const double top = frame.margin + titleHeight;
    out.append(list, frame.margin - inner.x + (width - inner.width) / 2.0, top - inner.y);
    double y = top + inner.height + 12.0;
    for (const std::string &line : frame.footer) {
        out.text({frame.margin, y, width, 18.0}, line, small, core::ColorToken::second);
        y += 18.0;
    }
    return out;
}

std::string svgText(const core::DrawList &list, core::ThemeScheme scheme)
{
    return SvgWriter(list, scheme).write();
}

} // namespace render
