// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/log/log_pane.h"

#include "views/base/formatting.h"

#include <QPlainTextEdit>
#include <QVBoxLayout>

namespace views {

LogPane::LogPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("log"), tr("Log"), parent), m_text(new QPlainTextEdit(this))
{
    m_text->setReadOnly(true);
    m_text->setProperty("kind", "log");
    m_text->setProperty("face", "mono");
    m_text->setAccessibleName(tr("Log"));
    m_text->setLineWrapMode(QPlainTextEdit::NoWrap);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(6, 6, 0, 0);
    column->addWidget(m_text);
}

QString LogPane::text() const
{
    return m_text->toPlainText();
}

void LogPane::append(const QString &line)
{
    m_own.push_back(line);
    showAgain();
}

void LogPane::showTrace()
{
    QStringList lines = m_own;
    if (trace()) {
        for (const core::LoadReport::Note &note : trace()->loadReport().notes())
            lines.push_back(QStringLiteral("reader  %1: %2%3")
                                .arg(fromView(note.token), fromView(note.message),
                                     note.count > 1 ? tr(" (%1 times)").arg(note.count) : QString()));
        for (const core::DiagnosticRow &row : trace()->diagnostics())
            lines.push_back(
                QStringLiteral("run     %1: %2")
                    .arg(fromView(trace()->string(row.token)), fromView(trace()->string(row.message))));
    }
    setSubtitle(lines.isEmpty() ? QString() : countText(static_cast<std::uint64_t>(lines.size())));
    m_text->setPlainText(lines.isEmpty() ? tr("Neither the reader nor the run had anything to say.")
                                         : lines.join(QLatin1Char('\n')));
}

} // namespace views
