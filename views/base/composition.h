// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/dtype.h"
#include "core/trace/tensor_stats.h"
#include "views/base/theme.h"

#include <QWidget>

#include <array>
#include <cstdint>
#include <optional>

namespace views {

// The six classes every element is in exactly one of, in the order they are drawn.
enum class ElementClass { nan, negInf, posInf, zero, subnormal, normal };

struct Composition
{
    std::array<std::uint64_t, 6> counts{};

    static Composition of(const core::TensorStats &stats);
    std::uint64_t total() const;
    std::uint64_t operator[](ElementClass which) const { return counts[static_cast<std::size_t>(which)]; }
};

QString elementClassName(ElementClass which); // "−Inf"
core::ColorToken elementClassTone(ElementClass which);
// What statistics of a tensor of DTYPE count: "9 elements"; of a complex one "18 real and imaginary parts".
QString elementsText(core::DType dtype, std::uint64_t counted);

// Widths of the six parts of a strip of WIDTH pixels: in proportion, but never under MINIMUM for a class that
// has an element, so that one NaN among millions is seen. They add up to WIDTH; all 0 without elements.
std::array<int, 6> stripWidths(const Composition &composition, int width, int minimum);

// The strip with its legend below: name, share and count of each class. A class without elements is muted.
// Owned by its pane.
class CompositionStrip : public QWidget
{
    Q_OBJECT

public:
    explicit CompositionStrip(const Theme &theme, QWidget *parent = nullptr);

    // nullopt: not measured, drawn as a hatch.
    void setComposition(const std::optional<Composition> &composition);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent *event) override;
    bool hasHeightForWidth() const override { return true; }
    int heightForWidth(int width) const override;

private:
    int columns(int width) const;
    void paintStrip(QPainter &painter) const;
    void paintLegend(QPainter &painter) const;

    const Theme &m_theme;
    std::optional<Composition> m_composition;
};

} // namespace views
