// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/graph/graph_find.h"

#include "views/base/formatting.h"

#include <QRegularExpression>

namespace views {

std::vector<core::OpId> findOps(const core::GraphTree &tree, const QString &text, const FindOptions &options,
                                QString *problem)
{
    if (problem != nullptr)
        problem->clear();
    std::vector<core::OpId> found;
    if (text.isEmpty())
        return found;
    QString pattern = options.regex ? text : QRegularExpression::escape(text);
    if (options.wholeWord)
        pattern = QStringLiteral("\\b(?:%1)\\b").arg(pattern);
    const QRegularExpression expression(pattern, options.matchCase
                                                     ? QRegularExpression::NoPatternOption
                                                     : QRegularExpression::CaseInsensitiveOption);
    if (!expression.isValid()) {
        if (problem != nullptr)
            *problem = expression.errorString();
        return found;
    }
    const core::Trace &trace = tree.trace();
    const auto matches = [&](std::string_view candidate) {
        return !candidate.empty() && expression.match(fromView(candidate)).hasMatch();
    };
    for (const core::CallId call : tree.calls()) {
        const core::OpId op(trace.call(call).rows.begin);
        if (matches(trace.label(op)) || matches(trace.moduleAddress(op)) ||
            matches(trace.string(trace.call(call).op)) || matches(trace.string(trace.call(call).address)))
            found.push_back(op);
    }
    return found;
}

std::vector<bool> boxesHolding(const core::GraphTree &tree, const core::GraphSlice &slice,
                               const std::vector<core::OpId> &ops)
{
    std::vector<bool> holding(slice.picture.boxes.size(), false);
    for (const core::OpId op : ops) {
        const std::uint32_t box = slice.boxOf(tree, tree.trace().op(op).call);
        if (box != core::kNoBox)
            holding[box] = true;
    }
    return holding;
}

} // namespace views
