// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/icon.h"

#include "views/base/theme.h"

#include <QIconEngine>
#include <QPainter>
#include <QPointer>

#include <charconv>
#include <vector>

namespace views {

namespace {

constexpr qreal kBox = 16.0;
constexpr qreal kStroke = 1.5;

class PathReader
{
public:
    explicit PathReader(std::string_view text) : m_text(text) {}

    void skipBlanks()
    {
        while (!m_text.empty() && m_text.front() == ' ')
            m_text.remove_prefix(1);
    }
    bool atEnd()
    {
        skipBlanks();
        return m_text.empty();
    }
    char command()
    {
        const char letter = m_text.front();
        m_text.remove_prefix(1);
        return letter;
    }
    bool numbers(std::vector<qreal> &out, int count)
    {
        out.clear();
        for (int i = 0; i < count; ++i) {
            skipBlanks();
            double value = 0.0;
            const auto [end, problem] = std::from_chars(m_text.data(), m_text.data() + m_text.size(), value);
            if (problem != std::errc())
                return false;
            m_text.remove_prefix(static_cast<std::size_t>(end - m_text.data()));
            out.push_back(value);
        }
        return true;
    }

private:
    std::string_view m_text;
};

int argumentCount(char command)
{
    switch (command) {
    case 'M':
    case 'L':
        return 2;
    case 'C':
        return 6;
    case 'O':
        return 3;
    case 'R':
        return 5;
    case 'Z':
        return 0;
    default:
        return -1;
    }
}

void append(QPainterPath &path, char command, const std::vector<qreal> &n)
{
    switch (command) {
    case 'M':
        path.moveTo(n[0], n[1]);
        break;
    case 'L':
        path.lineTo(n[0], n[1]);
        break;
    case 'C':
        path.cubicTo(n[0], n[1], n[2], n[3], n[4], n[5]);
        break;
    case 'O':
        path.addEllipse(QPointF(n[0], n[1]), n[2], n[2]);
        break;
    case 'R':
        path.addRoundedRect(QRectF(n[0], n[1], n[2], n[3]), n[4], n[4]);
        break;
    default:
        path.closeSubpath();
    }
}

// Asks the theme for its colour at each painting, so a theme switch needs no new icons.
class ThemedIconEngine : public QIconEngine
{
public:
    ThemedIconEngine(const Theme &theme, IconName name, core::ColorToken token)
        : m_theme(&theme), m_name(name), m_token(token)
    {
    }

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State state) override
    {
        if (!m_theme)
            return;
        core::ColorToken token = state == QIcon::On ? core::ColorToken::accent : m_token;
        if (mode == QIcon::Disabled)
            token = core::ColorToken::disabled;
        else if (mode == QIcon::Active && token == core::ColorToken::second)
            token = core::ColorToken::text;
        paintIcon(*painter, rect, m_name, m_theme->color(token));
    }
    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap result(size);
        result.fill(Qt::transparent);
        QPainter painter(&result);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return result;
    }
    QIconEngine *clone() const override { return new ThemedIconEngine(*this); }

private:
    QPointer<const Theme> m_theme;
    IconName m_name;
    core::ColorToken m_token;
};

} // namespace

std::optional<QPainterPath> parseIconPath(std::string_view text)
{
    QPainterPath path;
    PathReader reader(text);
    std::vector<qreal> numbers;
    while (!reader.atEnd()) {
        const char command = reader.command();
        const int count = argumentCount(command);
        if (count < 0 || !reader.numbers(numbers, count))
            return std::nullopt;
        append(path, command, numbers);
    }
    return path;
}

void paintIcon(QPainter &painter, const QRectF &rect, IconName name, const QColor &color)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const qreal side = std::min(rect.width(), rect.height());
    painter.translate(rect.center().x() - side / 2, rect.center().y() - side / 2);
    painter.scale(side / kBox, side / kBox);
    // The stroke stays 1.5 px on screen whatever the size of the box.
    const QPen pen(color, kStroke * kBox / std::max(side, 12.0), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    for (const IconShape &shape : iconShapes(name)) {
        const std::optional<QPainterPath> path = parseIconPath(shape.path);
        if (!path)
            continue;
        painter.setPen(shape.filled ? QPen(Qt::NoPen) : pen);
        painter.setBrush(shape.filled ? QBrush(color) : QBrush(Qt::NoBrush));
        painter.drawPath(*path);
    }
    painter.restore();
}

QIcon themedIcon(const Theme &theme, IconName name, core::ColorToken token)
{
    return QIcon(new ThemedIconEngine(theme, name, token));
}

} // namespace views
