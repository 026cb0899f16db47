// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/palette/palette_dialog.h"

#include "app/palette/palette_delegate.h"
#include "views/base/widgets.h"

#include <QAction>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace app {

namespace {

using core::ColorToken;

constexpr std::size_t kRemembered = 10;
constexpr QSize kSize(760, 420);

QString plainText(const QAction *action)
{
    return action->text().remove(QLatin1Char('&'));
}

std::pair<views::IconName, ColorToken> kindIcon(HitKind kind)
{
    switch (kind) {
    case HitKind::op:
        return {views::IconName::graph, ColorToken::accent};
    case HitKind::module:
        return {views::IconName::module, ColorToken::second};
    case HitKind::line:
        return {views::IconName::code, ColorToken::second};
    case HitKind::parameter:
        return {views::IconName::parameter, ColorToken::second};
    case HitKind::finding:
        return {views::IconName::warning, ColorToken::nan};
    case HitKind::command:
        return {views::IconName::command, ColorToken::second};
    }
    return {views::IconName::dot, ColorToken::second};
}

QString kindName(HitKind kind)
{
    switch (kind) {
    case HitKind::op:
        return PaletteModel::tr("op");
    case HitKind::module:
        return PaletteModel::tr("module");
    case HitKind::line:
        return PaletteModel::tr("source line");
    case HitKind::parameter:
        return PaletteModel::tr("parameter");
    case HitKind::finding:
        return PaletteModel::tr("finding");
    case HitKind::command:
        return PaletteModel::tr("command");
    }
    return {};
}

} // namespace

void PaletteModel::search(const QString &text, const std::vector<SearchHit> &last)
{
    beginResetModel();
    m_hits.clear();
    const bool commandsOnly = text.startsWith(QLatin1Char('>'));
    if (text.trimmed().isEmpty()) {
        for (const SearchHit &hit : last)
            if (hit.kind == HitKind::command || m_index)
                m_hits.push_back(hit);
    } else if (m_index && !commandsOnly) {
        m_hits = m_index->find(text);
    }
    const QString words = commandsOnly ? text.mid(1) : text;
    const bool narrowed = !text.isEmpty() && QStringLiteral("@:#[!").contains(text.front());
    if ((commandsOnly || !text.trimmed().isEmpty()) && !narrowed)
        for (std::size_t i = 0; i < m_commands.size(); ++i)
            if (matchesWords(words, plainText(m_commands[i])))
                m_hits.push_back({HitKind::command, static_cast<std::uint32_t>(i), 0});
    endResetModel();
}

int PaletteModel::rowCount(const QModelIndex &parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_hits.size());
}

QString PaletteModel::name(const SearchHit &hit) const
{
    return hit.kind == HitKind::command ? plainText(m_commands[hit.index]) : m_index->nameOf(hit);
}

QString PaletteModel::place(const SearchHit &hit) const
{
    return hit.kind == HitKind::command ? m_commands[hit.index]->shortcut().toString(QKeySequence::NativeText)
                                        : m_index->placeOf(hit);
}

QVariant PaletteModel::data(const QModelIndex &index, int role) const
{
    if (!index.isValid())
        return {};
    const SearchHit &found = hit(index.row());
    switch (role) {
    case Qt::DisplayRole:
        return name(found);
    case kPlaceRole:
        return place(found);
    case kKindRole:
        return static_cast<int>(found.kind);
    case Qt::AccessibleTextRole:
        return QStringLiteral("%1, %2, %3").arg(kindName(found.kind), name(found), place(found));
    default:
        return {};
    }
}

void PaletteDelegate::paint(QPainter *painter, const QStyleOptionViewItem &option,
                            const QModelIndex &index) const
{
    painter->save();
    if (option.state.testFlag(QStyle::State_Selected)) {
        painter->fillRect(option.rect, m_theme.color(ColorToken::accentbg));
        painter->fillRect(QRect(option.rect.topLeft(), QSize(2, option.rect.height())),
                          m_theme.color(ColorToken::accent));
    }
    const auto kind = static_cast<HitKind>(index.data(PaletteModel::kKindRole).toInt());
    const auto [icon, tone] = kindIcon(kind);
    QRect room = option.rect.adjusted(12, 0, -12, 0);
    views::paintIcon(*painter, QRectF(room.left(), room.center().y() - 6.0, 13, 13), icon,
                     m_theme.color(tone));
    room.setLeft(room.left() + 24);
    const bool words = kind == HitKind::command || kind == HitKind::finding;
    painter->setFont(m_theme.font(words ? views::FontRole::dense : views::FontRole::monoDense));
    // A pixel more: the width is rounded, and a name that just fits would be cut.
    const int nameWidth =
        std::min(painter->fontMetrics().horizontalAdvance(index.data().toString()) + 1, room.width() * 2 / 3);
    painter->setPen(m_theme.color(ColorToken::text));
    painter->drawText(room, Qt::AlignVCenter | Qt::AlignLeft,
                      painter->fontMetrics().elidedText(index.data().toString(), Qt::ElideRight, nameWidth));
    room.setLeft(room.left() + nameWidth + 16);
    painter->setFont(m_theme.font(views::FontRole::monoCaption));
    painter->setPen(m_theme.color(ColorToken::muted));
    painter->drawText(room, Qt::AlignVCenter | Qt::AlignRight,
                      painter->fontMetrics().elidedText(index.data(PaletteModel::kPlaceRole).toString(),
                                                        Qt::ElideLeft, room.width()));
    painter->restore();
}

PaletteDialog::PaletteDialog(const views::Theme &theme, QWidget *window)
    : QDialog(window, Qt::Popup), m_model(new PaletteModel(this)), m_field(new QLineEdit(this)),
      m_list(new QListView(this)), m_hint(views::makeLabel({}, "caption", this))
{
    setObjectName(QStringLiteral("palette"));
    setAccessibleName(tr("Palette"));
    m_field->setAccessibleName(tr("Find anything or run a command"));
    m_field->setPlaceholderText(tr("Find op, module, source line, shape, dtype, finding"));
    m_field->setMinimumHeight(32);
    m_list->setModel(m_model);
    m_list->setItemDelegate(new PaletteDelegate(theme, m_list));
    m_list->setUniformItemSizes(true);
    m_list->setFocusPolicy(Qt::NoFocus);
    m_list->setAccessibleName(tr("What was found"));
    m_hint->setText(tr("@ module   : line   # number   [4,256 shape   ! finding   > command"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(8, 8, 8, 8);
    column->setSpacing(6);
    column->addWidget(m_field);
    column->addWidget(m_list, 1);
    column->addWidget(m_hint);
    m_field->installEventFilter(this);
    connect(m_field, &QLineEdit::textChanged, this, &PaletteDialog::search);
    connect(m_list, &QListView::clicked, this, [this] { choose(false); });
}

void PaletteDialog::start(std::shared_ptr<const SearchIndex> index, std::vector<QAction *> commands,
                          const QString &text)
{
    if (index.get() != m_model->index())
        m_last.clear();
    m_model->setIndex(std::move(index));
    m_model->setCommands(std::move(commands));
    const QWidget *window = parentWidget()->window();
    const QSize size = kSize.boundedTo(window->size() * 0.9);
    resize(size);
    move(window->mapToGlobal(QPoint((window->width() - size.width()) / 2, 34)));
    m_field->setText(text);
    search();
    show();
    m_field->setFocus();
}

void PaletteDialog::setIndex(std::shared_ptr<const SearchIndex> index)
{
    m_model->setIndex(std::move(index));
    if (isVisible())
        search();
}

void PaletteDialog::search()
{
    m_model->search(m_field->text(), m_last);
    if (m_model->rowCount() > 0)
        m_list->setCurrentIndex(m_model->index(0, 0));
}

void PaletteDialog::choose(bool reveal)
{
    const QModelIndex current = m_list->currentIndex();
    if (!current.isValid())
        return;
    const SearchHit hit = m_model->hit(current.row());
    m_last.erase(
        std::remove_if(m_last.begin(), m_last.end(),
                       [&](const SearchHit &old) { return old.kind == hit.kind && old.index == hit.index; }),
        m_last.end());
    // Commands come and go with what can be done, so their numbers are not kept.
    if (hit.kind != HitKind::command)
        m_last.insert(m_last.begin(), hit);
    if (m_last.size() > kRemembered)
        m_last.resize(kRemembered);
    hide();
    if (hit.kind == HitKind::command)
        Q_EMIT commandChosen(m_model->command(hit));
    else
        Q_EMIT itemChosen(m_model->index()->itemOf(hit), reveal);
}

// The field keeps the focus; the keys that move in the list are handed on.
bool PaletteDialog::eventFilter(QObject *watched, QEvent *event)
{
    if (watched != m_field || event->type() != QEvent::KeyPress)
        return QDialog::eventFilter(watched, event);
    const auto *key = static_cast<QKeyEvent *>(event);
    const int row = m_list->currentIndex().row();
    const int last = m_model->rowCount() - 1;
    switch (key->key()) {
    case Qt::Key_Down:
        m_list->setCurrentIndex(m_model->index(std::min(row + 1, last), 0));
        return true;
    case Qt::Key_Up:
        m_list->setCurrentIndex(m_model->index(std::max(row - 1, 0), 0));
        return true;
    case Qt::Key_PageDown:
        m_list->setCurrentIndex(m_model->index(std::min(row + 10, last), 0));
        return true;
    case Qt::Key_PageUp:
        m_list->setCurrentIndex(m_model->index(std::max(row - 10, 0), 0));
        return true;
    case Qt::Key_Return:
    case Qt::Key_Enter:
        choose(key->modifiers().testFlag(Qt::AltModifier));
        return true;
    default:
        return false;
    }
}

} // namespace app
