// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/source/code_view.h"

#include <QKeyEvent>

#include <algorithm>

namespace views {

namespace {

using core::ColorToken;

constexpr int kNumberMargin = 0;
constexpr int kMarkMargin = 1;
constexpr int kMarkWidth = 6;

int backgroundMarker(CodeView::LineMark mark)
{
    return static_cast<int>(mark);
}

int barMarker(CodeView::LineMark mark)
{
    return static_cast<int>(mark) + 8;
}

// Scintilla knows sizes in points only.
QFont inPoints(QFont font, int dotsPerInch)
{
    font.setPointSizeF(font.pixelSize() * 72.0 / std::max(dotsPerInch, 1));
    return font;
}

} // namespace

CodeView::CodeView(const Theme &theme, QWidget *parent) : QsciScintilla(parent), m_theme(theme)
{
    auto *python = new QsciLexerPython(this);
    setLexer(python);
    setReadOnly(true);
    setUtf8(true);
    setFrameShape(QFrame::NoFrame);
    setTabWidth(4);
    setFolding(NoFoldStyle);
    setWrapMode(WrapNone);
    setMarginType(kNumberMargin, NumberMargin);
    setMarginType(kMarkMargin, SymbolMargin);
    setMarginWidth(kMarkMargin, kMarkWidth);
    setMarginWidth(2, 0);
    for (const LineMark mark : {LineMark::current, LineMark::nan, LineMark::inf}) {
        markerDefine(Background, backgroundMarker(mark));
        markerDefine(FullRectangle, barMarker(mark));
    }
    int bars = 0;
    for (const LineMark mark : {LineMark::current, LineMark::nan, LineMark::inf})
        bars |= 1 << barMarker(mark);
    setMarginMarkerMask(kMarkMargin, bars);
    SendScintilla(SCI_SETSCROLLWIDTHTRACKING, 1L);
    SendScintilla(SCI_SETSCROLLWIDTH, 200L);
    setAccessibleName(tr("Source text"));
    applyTheme();
}

void CodeView::applyTheme()
{
    const QFont font = inPoints(m_theme.font(FontRole::monoDense), logicalDpiY());
    const QColor paper = m_theme.color(ColorToken::panel);
    const QColor ink = m_theme.color(ColorToken::text);
    lexer()->setDefaultFont(font);
    lexer()->setDefaultPaper(paper);
    lexer()->setDefaultColor(ink);
    lexer()->setFont(font);
    lexer()->setPaper(paper);
    lexer()->setColor(ink);
    const auto paint = [this](ColorToken token, std::initializer_list<int> styles) {
        for (const int style : styles)
            lexer()->setColor(m_theme.color(token), style);
    };
    paint(ColorToken::codeKeyword, {QsciLexerPython::Keyword});
    paint(ColorToken::codeNumber, {QsciLexerPython::Number, QsciLexerPython::Decorator});
    paint(ColorToken::codeText,
          {QsciLexerPython::DoubleQuotedString, QsciLexerPython::SingleQuotedString,
           QsciLexerPython::TripleSingleQuotedString, QsciLexerPython::TripleDoubleQuotedString});
    paint(ColorToken::codeCall, {QsciLexerPython::FunctionMethodName, QsciLexerPython::ClassName,
                                 QsciLexerPython::HighlightedIdentifier});
    paint(ColorToken::codeComment, {QsciLexerPython::Comment, QsciLexerPython::CommentBlock});
    setPaper(paper);
    setColor(ink);
    setMarginsBackgroundColor(paper);
    setMarginsForegroundColor(m_theme.color(ColorToken::muted));
    setMarginsFont(inPoints(m_theme.font(FontRole::monoCaption), logicalDpiY()));
    setCaretForegroundColor(ink);
    setSelectionBackgroundColor(m_theme.color(ColorToken::accent));
    setSelectionForegroundColor(m_theme.color(ColorToken::ontint));
    const auto mark = [this](LineMark which, ColorToken back, ColorToken bar) {
        setMarkerBackgroundColor(m_theme.color(back), backgroundMarker(which));
        setMarkerBackgroundColor(m_theme.color(bar), barMarker(which));
        setMarkerForegroundColor(m_theme.color(bar), barMarker(which));
    };
    mark(LineMark::current, ColorToken::accentbg, ColorToken::accent);
    mark(LineMark::nan, ColorToken::nanbg, ColorToken::nan);
    mark(LineMark::inf, ColorToken::infbg, ColorToken::inf);
    setExtraAscent(3);
    setExtraDescent(2);
}

void CodeView::setCode(const QString &text)
{
    setReadOnly(false);
    setText(text);
    setReadOnly(true);
    setMarginWidth(kNumberMargin, QStringLiteral("0%1").arg(std::max(lines(), 100)));
}

void CodeView::clearMarks(LineMark mark)
{
    markerDeleteAll(backgroundMarker(mark));
    markerDeleteAll(barMarker(mark));
}

void CodeView::addMark(LineMark mark, int line)
{
    markerAdd(line - 1, backgroundMarker(mark));
    markerAdd(line - 1, barMarker(mark));
}

void CodeView::centerLine(int line)
{
    const auto visible = SendScintilla(SCI_LINESONSCREEN);
    setFirstVisibleLine(std::max(0, line - 1 - static_cast<int>(visible) / 2));
    setCursorPosition(line - 1, 0);
}

void CodeView::mouseReleaseEvent(QMouseEvent *event)
{
    QsciScintilla::mouseReleaseEvent(event);
    if (event->button() != Qt::LeftButton || hasSelectedText())
        return;
    int line = 0;
    int column = 0;
    getCursorPosition(&line, &column);
    Q_EMIT linePicked(line + 1);
}

void CodeView::keyPressEvent(QKeyEvent *event)
{
    // Nothing can be typed here, so letters are commands of the window.
    if (!event->text().isEmpty() && event->text().front().isPrint() && event->modifiers() == Qt::NoModifier) {
        event->ignore();
        return;
    }
    QsciScintilla::keyPressEvent(event);
}

} // namespace views
