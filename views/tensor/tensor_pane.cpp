// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/tensor/tensor_pane.h"

#include "views/base/composition.h"
#include "views/base/fact_list.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"
#include "views/tensor/histogram_plot.h"
#include "views/tensor/slice_bar.h"
#include "views/tensor/slice_delegate.h"

#include <QClipboard>
#include <QFontMetrics>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QScrollArea>
#include <QShortcut>
#include <QSplitter>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

namespace views {

namespace {

constexpr int kSide = 14;
constexpr int kCellPadding = 12;
constexpr int kNumberLength = 10; // "-1.234e-38"
constexpr int kWideFrom = 760;    // a pane that wide and low has the grid beside the distribution
constexpr int kCellHeight = 22;

} // namespace

TensorPane::TensorPane(const PaneContext &context, QWidget *parent)
    : Pane(context, QStringLiteral("tensor"), tr("Tensor"), parent), m_name(makeElidedLabel({}, "mono")),
      m_kind(makeElidedLabel({}, "monoSecond")), m_note(makeLabel({}, "dense")),
      m_composition(new CompositionStrip(context.theme)), m_histogram(new HistogramPlot(context.theme)),
      m_facts(new FactList(context.theme)), m_sliceBar(new SliceBar(context.theme, this)),
      m_grid(new QTableView(this)), m_cell(makeElidedLabel({}, "monoDense"))
{
    m_splitter = new QSplitter(Qt::Vertical, this);
    m_splitter->addWidget(makeTop());
    m_splitter->addWidget(makeBottom());
    m_splitter->setStretchFactor(0, 3);
    m_splitter->setStretchFactor(1, 2);
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_splitter);
    connect(&m_model, &SliceModel::tileRequested, this, [this](std::int64_t row, std::int64_t tileColumn) {
        Q_EMIT tileRequested(m_tensor, m_model.slice(), row, tileColumn);
    });
    connect(m_sliceBar, &SliceBar::sliceChanged, this, &TensorPane::showSlice);
    connect(m_sliceBar, &SliceBar::nextBadRequested, this, [this] { stepBadElement(1); });
    connect(m_grid->selectionModel(), &QItemSelectionModel::currentChanged, this,
            [this](const QModelIndex &current) {
                if (!m_showing && current.isValid())
                    pickCell(current.row(), current.column());
            });
    connect(&m_model, &QAbstractItemModel::dataChanged, this, [this] {
        const QModelIndex current = m_grid->currentIndex();
        if (current.isValid())
            showCell(current.row(), current.column());
    });
}

TensorPane::~TensorPane() = default;

// A job that was stopped says so too: nothing comes any more.
QString TensorPane::unreadWords(const core::Status &status)
{
    return status.code() == core::ErrorCode::cancelled
               ? tr("Reading was stopped. Select the tensor again to read it.")
               : tr("The values cannot be read: %1.").arg(fromView(status.message()));
}

QWidget *TensorPane::makeTop()
{
    auto *content = new QWidget;
    auto *outer = new QVBoxLayout(content);
    outer->setContentsMargins(0, 10, 0, 8);
    outer->setSpacing(0);
    auto *column = new QVBoxLayout;
    column->setContentsMargins(kSide, 0, kSide, 0); // as the list of facts below
    column->setSpacing(8);
    outer->addLayout(column);
    column->addWidget(m_name);
    column->addWidget(m_kind);
    m_note->setWordWrap(true);
    column->addWidget(m_note);
    column->addWidget(m_composition);
    auto *head = new QHBoxLayout;
    head->addWidget(makeLabel(tr("Finite values"), "strong"));
    head->addStretch(1);
    const auto addMode = [&](const QString &text, bool magnitude) {
        auto *button = new QToolButton;
        button->setText(text);
        button->setAccessibleName(tr("Axis: %1").arg(text));
        button->setProperty("kind", "chip");
        button->setCheckable(true);
        button->setAutoExclusive(true);
        button->setChecked(!magnitude);
        connect(button, &QToolButton::clicked, this,
                [this, magnitude] { m_histogram->setMagnitude(magnitude); });
        head->addWidget(button);
        return button;
    };
    m_magnitude = addMode(tr("log |x|"), true);
    m_linear = addMode(tr("linear x"), false);
    column->addLayout(head);
    column->addWidget(m_histogram);
    outer->addWidget(m_facts);
    outer->addStretch(1);
    auto *scroll = new QScrollArea;
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setAccessibleName(tr("Distribution of the tensor"));
    scroll->setWidget(content);
    return scroll;
}

QWidget *TensorPane::makeBottom()
{
    auto *bottom = new QWidget;
    auto *column = new QVBoxLayout(bottom);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_sliceBar);
    m_grid->setModel(&m_model);
    m_grid->setItemDelegate(new SliceDelegate(theme(), m_grid));
    m_grid->setAccessibleName(tr("Values of the slice"));
    m_grid->setSelectionMode(QAbstractItemView::SingleSelection);
    m_grid->setEditTriggers(QAbstractItemView::NoEditTriggers);
    m_grid->setShowGrid(false);
    m_grid->setTabKeyNavigation(false);
    m_grid->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_grid->setCornerButtonEnabled(false);
    m_grid->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_grid->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    m_grid->verticalHeader()->setDefaultSectionSize(kCellHeight);
    auto *copy = new QShortcut(QKeySequence::Copy, m_grid);
    copy->setContext(Qt::WidgetShortcut);
    connect(copy, &QShortcut::activated, this, [this] {
        const QModelIndex current = m_grid->currentIndex();
        const QString value = m_model.exactText(current.row(), current.column());
        if (!value.isEmpty())
            QGuiApplication::clipboard()->setText(value.section(QLatin1Char(' '), 0, 0));
    });
    column->addWidget(m_grid, 1);
    column->addWidget(makeWindowRow());
    m_cell->setContentsMargins(10, 4, 10, 4);
    m_cell->setTextInteractionFlags(Qt::TextSelectableByMouse);
    column->addWidget(m_cell);
    return bottom;
}

QWidget *TensorPane::makeWindowRow()
{
    m_windowRow = new QWidget(this);
    auto *row = new QHBoxLayout(m_windowRow);
    row->setContentsMargins(10, 2, 10, 2);
    m_window = makeElidedLabel({}, "dense", m_windowRow);
    row->addWidget(m_window, 1);
    const auto add = [&](const QString &text, const QString &name, int direction) {
        QPushButton *button = makeButton(text, "link", m_windowRow);
        button->setAccessibleName(name);
        connect(button, &QPushButton::clicked, this, [this, direction] {
            const QScopedValueRollback<bool> guard(m_showing, true);
            m_model.moveWindow(direction);
            showWindow();
        });
        row->addWidget(button);
    };
    add(tr("Earlier"), tr("Earlier cells of the slice"), -1);
    add(tr("Later"), tr("Later cells of the slice"), 1);
    m_windowRow->hide();
    return m_windowRow;
}

// Nothing is left out in silence: a grid that does not hold the whole slice says what it holds.
void TensorPane::showWindow()
{
    m_windowRow->setVisible(m_model.isCut());
    if (!m_model.isCut())
        return;
    const auto part = [](std::int64_t first, int count, std::int64_t all) {
        return tr("%1 to %2 of %3")
            .arg(countText(static_cast<std::uint64_t>(first)),
                 countText(static_cast<std::uint64_t>(first + count - 1)),
                 countText(static_cast<std::uint64_t>(all)));
    };
    m_window->setText(tr("In the grid: rows %1, columns %2")
                          .arg(part(m_model.firstRow(), m_model.rowCount(), m_model.allRows()),
                               part(m_model.firstColumn(), m_model.columnCount(), m_model.allColumns())));
}

QString TensorPane::noteText() const
{
    return m_note->text();
}

void TensorPane::showNote(const QString &note)
{
    m_note->setText(note);
    m_note->setVisible(!note.isEmpty());
}

void TensorPane::showTrace()
{
    m_tensor = {};
    m_op = {};
    m_model.clear();
    showWindow();
    m_name->clear();
    m_kind->clear();
    m_cell->clear();
    m_facts->clear();
    m_composition->setComposition(std::nullopt);
    m_histogram->clear({});
    setSubtitle({});
    showNote(trace() ? tr("Select an op or a tensor to see its values.") : tr("No trace is open."));
}

void TensorPane::showItem()
{
    if (!trace())
        return;
    const core::TensorId tensor = tensorOf(*trace(), item());
    if (!tensor.isValid()) {
        const core::OpId op = opOf(*trace(), item());
        const bool module = std::holds_alternative<ModuleItem>(item());
        showTrace();
        if (op.isValid() && !module)
            showNote(tr("%1 returned no tensor.").arg(fromView(trace()->publicLabel(op))));
        return;
    }
    if (tensor != m_tensor)
        showTensor(opOf(*trace(), item()), tensor);
    if (const auto *element = std::get_if<ElementItem>(&item()))
        showElement(element->index);
}

void TensorPane::showTensor(core::OpId op, core::TensorId tensor)
{
    m_tensor = tensor;
    m_op = op;
    const core::TensorRow &row = trace()->tensor(tensor);
    const core::OpId producer = trace()->producer(tensor);
    const QString name = producer.isValid() ? fromView(trace()->publicLabel(producer))
                                            : fromView(trace()->string(row.address));
    m_name->setText(name);
    m_kind->setText(tensorText(*trace(), tensor));
    m_cell->clear();
    m_facts->clear();
    setSubtitle(name);
    if (const core::TensorStats *stats = trace()->stats(tensor)) {
        m_composition->setComposition(Composition::of(*stats));
        m_largest = stats->hasFinite() ? stats->absMax : 0.0;
        showStats(*stats);
    } else {
        m_largest = 0.0;
        m_composition->setComposition(std::nullopt);
    }
    const auto shape = trace()->shape(tensor);
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (row.payload.state != core::PayloadState::saved && !empty) {
        m_model.clear();
        showWindow();
        m_histogram->clear({});
        showNote(tr("Values: %1. %2").arg(payloadText(row.payload.state), payloadRemedy(row.payload.state)));
        return;
    }
    showNote(empty ? tr("This tensor has no element: one of its dimensions is 0.") : QString());
    m_histogram->clear(empty ? QString() : tr("Reading the values."));
    showSlice(Slice::standard(shape));
    if (!empty)
        Q_EMIT summaryRequested(tensor);
}

void TensorPane::setSummary(core::TensorId tensor, const core::Result<TensorSummary> &summary)
{
    if (tensor != m_tensor || !trace())
        return;
    if (!summary) {
        m_histogram->clear(unreadWords(summary.error()));
        return;
    }
    m_composition->setComposition(Composition::of(summary->stats));
    static_cast<SliceDelegate *>(m_grid->itemDelegate())
        ->setHottest(summary->stats.hasFinite() ? summary->stats.absMax : 0.0);
    m_largest = summary->stats.hasFinite() ? summary->stats.absMax : 0.0;
    m_grid->horizontalHeader()->setDefaultSectionSize(cellWidth());
    m_histogram->setSummary(*summary, trace()->tensor(tensor).dtype);
    showStats(summary->stats);
    m_grid->viewport()->update();
}

void TensorPane::showStats(const core::TensorStats &stats)
{
    m_facts->clear();
    const core::TensorRow &row = trace()->tensor(m_tensor);
    m_facts->addSection(tr("Statistics"), tr("finite values only"));
    if (core::isComplex(row.dtype))
        m_facts->addFact(tr("Real and imaginary parts"), countText(stats.elements));
    else
        m_facts->addFact(tr("Elements"), countText(stats.elements));
    m_facts->addFact(tr("Finite"), countText(stats.elements - stats.nonFinite()));
    if (stats.hasFinite()) {
        m_facts->addFact(tr("Minimum"), numberText(stats.min, 9));
        m_facts->addFact(tr("Maximum"), numberText(stats.max, 9));
        m_facts->addFact(tr("Smallest non-zero magnitude"),
                         stats.absMin > 0 ? numberText(stats.absMin, 9) : QStringLiteral("–"));
        m_facts->addFact(tr("Largest magnitude"), numberText(stats.absMax, 9));
        m_facts->addFact(tr("Mean"), numberText(stats.mean, 9));
        m_facts->addFact(tr("Standard deviation"), numberText(stats.std, 9));
    }
    const core::FloatLimits limits = core::floatLimits(row.dtype);
    if (limits.max > 0 && stats.hasFinite())
        m_facts->addFact(tr("Share of the dtype's limit %1").arg(numberText(limits.max, 6)),
                         numberText(100.0 * stats.absMax / limits.max, 3) + QStringLiteral(" %"),
                         stats.absMax > 0.9 * limits.max ? "warn" : "");
    const auto first = [&](const QString &name, std::int64_t flat, const char *tone) {
        if (flat >= 0)
            m_facts->addFact(
                name, indexText(trace()->shape(m_tensor), static_cast<std::uint64_t>(flat)), tone,
                [this, flat] {
                    selection().select(ElementItem{m_op, m_tensor, static_cast<std::uint64_t>(flat)});
                });
    };
    first(tr("First NaN"), stats.firstNan, "nan");
    first(tr("First −Inf"), stats.firstNegInf, "inf");
    first(tr("First +Inf"), stats.firstPosInf, "inf");
}

void TensorPane::showSlice(const Slice &slice)
{
    const QScopedValueRollback<bool> guard(m_showing, true);
    const auto shape = trace()->shape(m_tensor);
    m_sliceBar->setSlice({shape.begin(), shape.end()}, slice);
    m_grid->horizontalHeader()->setDefaultSectionSize(cellWidth());
    m_model.setSlice(trace(), m_tensor, slice);
    showWindow();
}

void TensorPane::setTile(core::TensorId tensor, const Slice &slice, const core::Result<Tile> &tile)
{
    if (tensor != m_tensor)
        return;
    if (tile)
        m_model.setTile(slice, *tile);
    else
        showNote(unreadWords(tile.error()));
}

void TensorPane::stepBadElement(int direction)
{
    if (!m_tensor.isValid() || m_model.rowCount() == 0)
        return;
    const QModelIndex current = m_grid->currentIndex();
    std::int64_t from =
        direction > 0 ? -1 : static_cast<std::int64_t>(trace()->shape(m_tensor).size() + 1) << 40;
    if (current.isValid())
        from = static_cast<std::int64_t>(m_model.flatOf(current.row(), current.column()));
    Q_EMIT badElementRequested(m_tensor, from, direction);
}

void TensorPane::showBadElement(core::TensorId tensor, const core::Result<std::optional<std::uint64_t>> &flat)
{
    if (tensor != m_tensor)
        return;
    if (!flat) {
        m_cell->setText(unreadWords(flat.error()));
        return;
    }
    if (!*flat) {
        m_cell->setText(tr("Every element of this tensor is finite."));
        return;
    }
    selection().select(ElementItem{m_op, m_tensor, **flat});
}

void TensorPane::showElement(std::uint64_t flat)
{
    const auto shape = trace()->shape(m_tensor);
    if (m_model.rowCount() == 0)
        return;
    Slice slice = m_model.slice();
    const auto [row, column] = slice.moveTo(shape, flat);
    Slice shown = m_model.slice();
    for (std::size_t axis = 0; axis < shape.size(); ++axis)
        if (static_cast<int>(axis) != shown.rowAxis && static_cast<int>(axis) != shown.columnAxis)
            shown.fixed[axis] = slice.fixed[axis];
    if (!(shown == m_model.slice()))
        showSlice(shown);
    const QScopedValueRollback<bool> guard(m_showing, true);
    m_model.showCell(row, column);
    showWindow();
    const QModelIndex index = m_model.index(static_cast<int>(row - m_model.firstRow()),
                                            static_cast<int>(column - m_model.firstColumn()));
    m_grid->setCurrentIndex(index);
    m_grid->scrollTo(index, QAbstractItemView::PositionAtCenter);
    showCell(index.row(), index.column());
}

void TensorPane::pickCell(int row, int column)
{
    showCell(row, column);
    selection().select(ElementItem{m_op, m_tensor, m_model.flatOf(row, column)});
}

void TensorPane::showCell(int row, int column)
{
    const auto shape = trace()->shape(m_tensor);
    const std::uint64_t flat = m_model.flatOf(row, column);
    const QString value = m_model.exactText(row, column);
    m_cell->setText(
        QStringLiteral("%1   %2").arg(indexText(shape, flat), value.isEmpty() ? tr("reading") : value));
}

// Room for every digit of a whole number and for both parts of a complex one.
int TensorPane::cellWidth() const
{
    const core::DType dtype = trace()->tensor(m_tensor).dtype;
    qsizetype length = kNumberLength;
    if (core::isComplex(dtype))
        length = 2 * kNumberLength + 2;
    if (core::isIntegral(dtype))
        length = std::max(length, QString::number(m_largest, 'f', 0).size() + 1);
    return static_cast<int>(length) *
               QFontMetrics(theme().font(FontRole::monoCaption)).horizontalAdvance(QLatin1Char('0')) +
           kCellPadding;
}

void TensorPane::resizeEvent(QResizeEvent *event)
{
    Pane::resizeEvent(event);
    const bool wide = width() >= kWideFrom && width() > 2 * height();
    const Qt::Orientation wanted = wide ? Qt::Horizontal : Qt::Vertical;
    if (m_splitter->orientation() == wanted)
        return;
    m_splitter->setOrientation(wanted);
    m_splitter->setSizes(wide ? QList<int>{width() / 2, width() / 2}
                              : QList<int>{height() * 3 / 5, height() * 2 / 5});
}

void TensorPane::themeChanged()
{
    if (m_tensor.isValid() && trace())
        m_grid->horizontalHeader()->setDefaultSectionSize(cellWidth());
    m_grid->viewport()->update();
}

} // namespace views
