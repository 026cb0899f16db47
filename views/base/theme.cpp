// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/theme.h"

#include "views/render/fonts.h"

#include <QApplication>
#include <QFile>
#include <QPainter>
#include <QProxyStyle>
#include <QStyleFactory>
#include <QStyleOption>

#include <algorithm>
#include <array>

// Resources of a static library are linked in only when their initialiser is called; the macro does not work
// inside a namespace.
static void initializeResources()
{
    Q_INIT_RESOURCE(resources);
}

namespace views {

namespace {

constexpr std::array kModeNames = {"system", "light", "dark", "high-contrast"};

struct FontSpec
{
    const char *family;
    int pixels;
    QFont::Weight weight;
};

constexpr const char *kWords = "Inter";
constexpr const char *kMono = "JetBrains Mono";

// In the order of FontRole.
constexpr std::array kFonts = {
    FontSpec{kWords, 20, QFont::DemiBold}, FontSpec{kWords, 15, QFont::DemiBold},
    FontSpec{kWords, 13, QFont::Normal},   FontSpec{kWords, 13, QFont::DemiBold},
    FontSpec{kWords, 13, QFont::Medium},   FontSpec{kWords, 12, QFont::Normal},
    FontSpec{kWords, 11, QFont::Normal},   FontSpec{kWords, 10, QFont::DemiBold},
    FontSpec{kMono, 13, QFont::Normal},    FontSpec{kMono, 12, QFont::Normal},
    FontSpec{kMono, 11, QFont::Normal},
};

// Fusion without underlined letters in menus and buttons (the keys stand beside the names), and with check
// boxes that can be seen: its own outline is a shade of the window's colour. The colours are those of the
// palette, since the style outlives themes.
class WindowStyle : public QProxyStyle
{
public:
    WindowStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

    int styleHint(StyleHint hint, const QStyleOption *option, const QWidget *widget,
                  QStyleHintReturn *data) const override
    {
        return hint == SH_UnderlineShortcut ? 0 : QProxyStyle::styleHint(hint, option, widget, data);
    }

    void drawPrimitive(PrimitiveElement element, const QStyleOption *option, QPainter *painter,
                       const QWidget *widget) const override
    {
        if (element == PE_IndicatorCheckBox)
            drawCheckBox(*option, *painter);
        else if (element == PE_FrameDockWidget)
            drawOutline(*option, *painter);
        else
            QProxyStyle::drawPrimitive(element, option, painter, widget);
    }

    // Room for the outline of a floating dock, which is else lost on the window.
    int pixelMetric(PixelMetric metric, const QStyleOption *option, const QWidget *widget) const override
    {
        return metric == PM_DockWidgetFrameWidth ? 1 : QProxyStyle::pixelMetric(metric, option, widget);
    }

private:
    static void drawOutline(const QStyleOption &option, QPainter &painter)
    {
        painter.save();
        painter.setPen(option.palette.color(QPalette::Active, QPalette::PlaceholderText));
        painter.setBrush(Qt::NoBrush);
        painter.drawRect(option.rect.adjusted(0, 0, -1, -1));
        painter.restore();
    }

    static void drawCheckBox(const QStyleOption &option, QPainter &painter)
    {
        const bool isEnabled = option.state.testFlag(State_Enabled);
        const bool isChecked = option.state.testFlag(State_On);
        const bool hasFocus = option.state.testFlag(State_HasFocus);
        const auto group = isEnabled ? QPalette::Active : QPalette::Disabled;
        const auto outline = !isEnabled              ? QPalette::WindowText
                             : isChecked || hasFocus ? QPalette::Link
                                                     : QPalette::PlaceholderText;
        const int side = std::min(option.rect.width(), option.rect.height());
        QRectF box(0, 0, side - 2, side - 2);
        box.moveCenter(QRectF(option.rect).center());
        painter.save();
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(QPen(option.palette.color(group, outline), hasFocus ? 2.0 : 1.0));
        painter.setBrush(option.palette.color(group, isChecked ? QPalette::Highlight : QPalette::Base));
        painter.drawRoundedRect(box, 3.0, 3.0);
        if (isChecked) {
            const auto at = [&box](double x, double y) {
                return QPointF(box.x() + x * box.width(), box.y() + y * box.height());
            };
            painter.setPen(QPen(option.palette.color(group, QPalette::WindowText), 1.6, Qt::SolidLine,
                                Qt::RoundCap, Qt::RoundJoin));
            painter.drawPolyline(QPolygonF({at(0.22, 0.52), at(0.42, 0.72), at(0.78, 0.28)}));
        }
        painter.restore();
    }
};

QString readText(const QString &path)
{
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

} // namespace

QString themeModeName(ThemeMode mode)
{
    return QLatin1String(kModeNames[static_cast<std::size_t>(mode)]);
}

ThemeMode themeModeFromName(const QString &name)
{
    for (std::size_t i = 0; i < kModeNames.size(); ++i)
        if (name == QLatin1String(kModeNames[i]))
            return static_cast<ThemeMode>(i);
    return ThemeMode::system;
}

Theme::Theme(QObject *parent) : QObject(parent) {}

QColor Theme::color(core::ColorToken token) const
{
    if (token == core::ColorToken::none)
        return QColor(Qt::transparent);
    return QColor::fromRgb(0xff000000U | core::themeRgb(m_scheme, token));
}

QColor Theme::wash(core::ColorToken token, double alpha) const
{
    QColor result = color(token);
    result.setAlphaF(static_cast<float>(alpha));
    return result;
}

int Theme::scaled(int pixels) const
{
    return (pixels * m_textPercent + 50) / 100;
}

QFont Theme::font(FontRole role) const
{
    const FontSpec &spec = kFonts[static_cast<std::size_t>(role)];
    QFont font(QLatin1String(spec.family));
    font.setPixelSize(scaled(spec.pixels));
    font.setWeight(spec.weight);
    font.setStyleHint(spec.family == kMono ? QFont::Monospace : QFont::SansSerif);
    if (role == FontRole::label)
        font.setCapitalization(QFont::AllUppercase);
    return font;
}

QPalette Theme::palette() const
{
    using enum core::ColorToken;
    QPalette result;
    result.setColor(QPalette::Window, color(panel));
    result.setColor(QPalette::WindowText, color(text));
    result.setColor(QPalette::Base, color(panel));
    result.setColor(QPalette::AlternateBase, color(zebra));
    result.setColor(QPalette::Text, color(text));
    result.setColor(QPalette::PlaceholderText, color(muted));
    result.setColor(QPalette::Button, color(raised));
    result.setColor(QPalette::ButtonText, color(text));
    result.setColor(QPalette::BrightText, color(nan));
    result.setColor(QPalette::ToolTipBase, color(raised));
    result.setColor(QPalette::ToolTipText, color(text));
    result.setColor(QPalette::Highlight, color(accentbg));
    result.setColor(QPalette::HighlightedText, color(text));
    result.setColor(QPalette::Link, color(accent));
    result.setColor(QPalette::LinkVisited, color(accent));
    result.setColor(QPalette::Light, color(hover));
    result.setColor(QPalette::Midlight, color(border));
    result.setColor(QPalette::Mid, color(border));
    result.setColor(QPalette::Dark, color(window));
    result.setColor(QPalette::Shadow, color(window));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        result.setColor(QPalette::Disabled, role, color(disabled));
    return result;
}

QString Theme::styleSheet() const
{
    QString sheet = readText(QStringLiteral(":/themes/window.qss"));
    // Longest names first: "@nan" is the start of "@nanbg".
    std::vector<core::ColorToken> tokens;
    for (std::size_t i = 1; i < core::kColorTokenCount; ++i)
        tokens.push_back(static_cast<core::ColorToken>(i));
    std::sort(tokens.begin(), tokens.end(), [](core::ColorToken a, core::ColorToken b) {
        return core::colorTokenName(a).size() > core::colorTokenName(b).size();
    });
    for (const core::ColorToken token : tokens)
        sheet.replace(QLatin1Char('@') + QLatin1String(core::colorTokenName(token)), color(token).name());
    for (int pixels = 10; pixels <= 20; ++pixels)
        sheet.replace(QStringLiteral("@%1px").arg(pixels), QStringLiteral("%1px").arg(scaled(pixels)));
    const bool wide = m_scheme == core::ThemeScheme::highContrast;
    sheet.replace(QLatin1String("@line"), wide ? QLatin1String("2px") : QLatin1String("1px"));
    return sheet;
}

void Theme::setMode(ThemeMode mode)
{
    m_mode = mode;
    resolve();
}

void Theme::setDesktopIsDark(bool dark)
{
    m_desktopIsDark = dark;
    resolve();
}

void Theme::setTextPercent(int percent)
{
    percent = std::clamp(percent, 100, 200);
    if (percent == m_textPercent)
        return;
    m_textPercent = percent;
    Q_EMIT changed();
}

void Theme::resolve()
{
    core::ThemeScheme scheme = m_desktopIsDark ? core::ThemeScheme::dark : core::ThemeScheme::light;
    if (m_mode == ThemeMode::light)
        scheme = core::ThemeScheme::light;
    else if (m_mode == ThemeMode::dark)
        scheme = core::ThemeScheme::dark;
    else if (m_mode == ThemeMode::highContrast)
        scheme = core::ThemeScheme::highContrast;
    if (scheme == m_scheme)
        return;
    m_scheme = scheme;
    Q_EMIT changed();
}

bool loadBundledFonts()
{
    initializeResources();
    return render::loadBundledFonts();
}

void applyTheme(QApplication &application, Theme &theme)
{
    QApplication::setStyle(new WindowStyle);
    const auto apply = [&application, &theme] {
        QApplication::setPalette(theme.palette());
        QApplication::setFont(theme.font(FontRole::body));
        application.setStyleSheet(theme.styleSheet());
    };
    QObject::connect(&theme, &Theme::changed, &application, apply);
    apply();
}

} // namespace views
