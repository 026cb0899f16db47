// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/draw/theme_table.h"

#include <QTest>

#include <string>
#include <vector>

using core::ColorToken;
using core::ThemeScheme;

// The contrast promises of the visual language, checked over the whole table (WCAG 2.1: 4.5 for text, 3 for
// marks that are needed to understand).
class TestThemeTable : public QObject
{
    Q_OBJECT

private:
    static double ratio(ThemeScheme scheme, ColorToken a, ColorToken b)
    {
        return core::contrastRatio(core::themeRgb(scheme, a), core::themeRgb(scheme, b));
    }
    static void require(double least, const std::vector<ColorToken> &front,
                        const std::vector<ColorToken> &back)
    {
        for (const ThemeScheme scheme : {ThemeScheme::dark, ThemeScheme::light, ThemeScheme::highContrast})
            for (const ColorToken f : front)
                for (const ColorToken b : back) {
                    const double found = ratio(scheme, f, b);
                    QVERIFY2(found >= least, qPrintable(QStringLiteral("%1 on %2, %3: %4")
                                                            .arg(QLatin1String(core::colorTokenName(f)))
                                                            .arg(QLatin1String(core::colorTokenName(b)))
                                                            .arg(QLatin1String(core::themeSchemeName(scheme)))
                                                            .arg(found)));
                }
    }

private Q_SLOTS:
    void knowsTheExtremes()
    {
        QCOMPARE(core::contrastRatio(0x000000, 0xFFFFFF), 21.0);
        QCOMPARE(core::contrastRatio(0x123456, 0x123456), 1.0);
    }

    void textIsReadable()
    {
        using enum ColorToken;
        require(4.5, {text, second},
                {window, panel, raised, hover, input, canvas, zebra, module, node, accentbg});
        require(4.5, {muted}, {window, panel, raised, input, canvas, zebra, module});
        require(4.5, {accent, nan, inf, ok}, {window, panel, input, canvas, zebra, module, raised});
        require(4.5, {warn}, {window, panel, input, canvas, zebra, module, warnbg});
        require(4.5, {codeKeyword, codeText, codeNumber, codeCall, codeComment}, {panel, zebra});
        require(4.5, {ontint}, {accent, nan, inf, warn, ok});
    }

    void tintsCarryTheirOwnHue()
    {
        using enum ColorToken;
        require(4.5, {accent}, {accentbg});
        require(4.5, {nan}, {nanbg});
        require(4.5, {inf}, {infbg});
        require(4.5, {warn}, {warnbg});
        require(4.5, {ok}, {okbg});
        require(4.5, {text, second}, {nanbg, infbg, warnbg, okbg});
    }

    void outlinesAreVisible()
    {
        using enum ColorToken;
        require(3.0, {strong}, {window, panel, input});
        require(3.0, {nodeb, edge}, {canvas});
    }

    void highContrastIsHigh()
    {
        using enum ColorToken;
        for (const ColorToken token : {text, accent, nan, inf, warn, ok})
            QVERIFY(ratio(ThemeScheme::highContrast, token, window) >= 10.0);
    }

    void everyTokenHasAColour()
    {
        for (std::size_t i = 1; i < core::kColorTokenCount; ++i) {
            const auto token = static_cast<ColorToken>(i);
            QVERIFY(core::themeRgb(ThemeScheme::light, token) != 0);
            QVERIFY(core::themeRgb(ThemeScheme::dark, token) != 0);
        }
    }
};

QTEST_APPLESS_MAIN(TestThemeTable)
#include "tst_theme_table.moc"
