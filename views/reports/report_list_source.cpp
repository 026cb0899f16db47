// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/reports/report_list_source.h"

#include <QCoreApplication>

namespace views {

ReportListSource::ReportListSource(std::shared_ptr<const ReportBoard> board)
    : m_board(std::move(board)), m_columns{{QStringLiteral("report"),
                                            QCoreApplication::translate("views::ReportList", "Report"), 168,
                                            false, true, false},
                                           {QStringLiteral("state"),
                                            QCoreApplication::translate("views::ReportList", "State"), 130,
                                            false, false, true}}
{
    for (const ReportEntry &entry : m_board->entries) {
        m_words.push_back(stateWords(entry));
        m_states.push_back(m_words.back().text.toStdString());
    }
}

QString ReportListSource::text(std::size_t row, std::size_t column) const
{
    return column == 0 ? m_board->entries[row].name() : m_words[row].text;
}

std::string_view ReportListSource::key(std::size_t row, std::size_t column) const
{
    return column == 0 ? m_board->entries[row].definition->name : std::string_view(m_states[row]);
}

CellLook ReportListSource::look(std::size_t row, std::size_t column) const
{
    CellLook look;
    const bool idle = m_board->entries[row].state == ReportState::notApplicable;
    if (column == 0) {
        look.icon = m_words[row].icon;
        look.iconTone = m_words[row].tone;
        look.tone = idle ? core::ColorToken::muted : core::ColorToken::text;
    } else {
        look.tone =
            m_words[row].tone == core::ColorToken::ok || idle ? core::ColorToken::second : m_words[row].tone;
    }
    return look;
}

} // namespace views
