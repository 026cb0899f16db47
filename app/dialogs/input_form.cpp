// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/input_form.h"

#include "core/capture/input_spec.h"
#include "views/base/formatting.h"
#include "views/base/widgets.h"

#include <QCoreApplication>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>
#include <iterator>

namespace app {

namespace {

constexpr int kFreeHeight = 76;
const QString kExample = QStringLiteral("f32[1,3,224,224]=randn");

QString innerOf(const QString &type)
{
    return type.startsWith(QLatin1String("Optional[")) ? type.mid(9).chopped(1) : type;
}

// Words and containers have no spelling on one line.
bool needsTree(const QString &type)
{
    constexpr const char *kOnlyInTree[] = {"str", "List[", "Tuple[", "Dict["};
    return std::any_of(
        std::begin(kOnlyInTree), std::end(kOnlyInTree),
        [inner = innerOf(type)](const char *kind) { return inner.startsWith(QLatin1String(kind)); });
}

// What a value of the TYPE that a model states may look like.
QString exampleOf(const QString &type)
{
    const QString inner = innerOf(type);
    for (const auto &[name, example] : {std::pair{"int", "16000"}, {"float", "0.5"}, {"bool", "true"}})
        if (inner == QLatin1String(name))
            return QString::fromLatin1(example);
    if (needsTree(type))
        return QCoreApplication::translate("app::InputForm", "in the file that names all inputs");
    return kExample;
}

QStringList linesOf(const QPlainTextEdit &edit)
{
    QStringList lines;
    for (const QString &line : edit.toPlainText().split(QLatin1Char('\n')))
        if (!line.trimmed().isEmpty())
            lines.push_back(line.trimmed());
    return lines;
}

QString parseProblem(const QString &text)
{
    const auto parsed = core::parseInputOption(text.toStdString());
    return parsed ? QString() : views::fromView(parsed.error().message());
}

} // namespace

InputForm::InputForm(const views::Theme &theme, QWidget *parent)
    : QWidget(parent), m_theme(theme), m_list(new QWidget(this)), m_grid(new QGridLayout(m_list)),
      m_free(new QPlainTextEdit(this)), m_tree(new QLineEdit(this))
{
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(6);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setHorizontalSpacing(8);
    m_grid->setVerticalSpacing(4);
    m_grid->setColumnStretch(2, 1);
    column->addWidget(m_list);
    m_free->setProperty("face", "mono");
    m_free->setAccessibleName(tr("Inputs, one a line"));
    m_free->setPlaceholderText(
        tr("One input a line, in order or NAME=...:\nf32[1,3,224,224]=randn\n"
           "i64[4,256]=randint(0,100)\nempty: the sample inputs of the file, else a guess"));
    m_free->setFixedHeight(kFreeHeight);
    m_free->setTabChangesFocus(true);
    column->addWidget(m_free);
    addTreeRow();
    connect(m_free, &QPlainTextEdit::textChanged, this, &InputForm::changed);
    setUnknown();
}

void InputForm::addTreeRow()
{
    m_tree->setProperty("face", "mono");
    m_tree->setAccessibleName(tr("File that names all inputs"));
    m_tree->setPlaceholderText(tr("or one file that names them all (inputs.json)"));
    m_tree->installEventFilter(this);
    auto *row = new QHBoxLayout;
    row->setSpacing(8);
    row->addWidget(m_tree, 1);
    row->addWidget(makeFileButton(m_tree, tr("all inputs"), tr("Input trees (*.json);;All files (*)")));
    static_cast<QVBoxLayout *>(layout())->addLayout(row);
    connect(m_tree, &QLineEdit::textChanged, this, [this] {
        checkRows();
        Q_EMIT changed();
    });
}

QToolButton *InputForm::makeFileButton(QLineEdit *field, const QString &name, const QString &filter)
{
    QToolButton *button =
        views::makeIconButton(m_theme, views::IconName::folderOpen, tr("Choose a file: %1").arg(name), this);
    connect(button, &QToolButton::clicked, this, [this, field, filter] { chooseFile(field, filter); });
    return button;
}

void InputForm::chooseFile(QLineEdit *field, const QString &filter)
{
    auto *dialog =
        new QFileDialog(this, tr("Choose a file"), QFileInfo(field->text()).absolutePath(), filter);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, field, &QLineEdit::setText);
    dialog->open();
}

void InputForm::addRow(const InputFacts &facts, bool hasSample)
{
    Row row;
    row.facts = facts;
    row.text = new QLineEdit(m_list);
    row.text->setProperty("face", "mono");
    row.text->setAccessibleName(tr("Input %1, %2").arg(facts.name, facts.expected));
    row.text->installEventFilter(this);
    row.problem = views::makeLabel({}, "caption", m_list);
    row.problem->setWordWrap(true);
    views::setTone(row.problem, "nan");
    row.problem->hide();
    if (facts.isFixed) {
        row.text->setEnabled(false);
        row.text->setPlaceholderText(tr("fixed at export: %1").arg(facts.expected));
    } else if (hasSample) {
        row.text->setPlaceholderText(tr("the sample input in the file"));
    } else if (!facts.isRequired) {
        row.text->setPlaceholderText(tr("its default"));
    } else {
        const QString example =
            !facts.specification.isEmpty() ? facts.specification : exampleOf(facts.expected);
        row.text->setPlaceholderText(
            m_canGuess && facts.specification.isEmpty() ? tr("empty: guessed; or %1").arg(example) : example);
        row.text->setText(facts.specification);
    }
    const int line = m_grid->rowCount();
    QLabel *name = views::makeElidedLabel(facts.name, "monoDense", m_list);
    name->setMinimumWidth(90);
    m_grid->addWidget(name, line, 0);
    // The file buttons stand below each other, also that of the file for all.
    m_grid->addWidget(views::makeLabel(facts.isFixed ? QString() : facts.expected, "monoMuted", m_list), line,
                      1);
    m_grid->addWidget(row.text, line, 2);
    QToolButton *file = makeFileButton(row.text, facts.name,
                                       tr("Tensors, images, sounds (*.npy *.npz *.pt *.pth *.bin "
                                          "*.safetensors *.png *.jpg *.jpeg *.wav);;All files (*)"));
    file->setEnabled(!facts.isFixed);
    m_grid->addWidget(file, line, 3);
    m_grid->addWidget(row.problem, line + 1, 2, 1, 2);
    m_rows.push_back(row);
    connect(row.text, &QLineEdit::textChanged, this, [this] {
        checkRows();
        Q_EMIT changed();
    });
}

void InputForm::clearRows()
{
    m_rows.clear();
    while (QLayoutItem *item = m_grid->takeAt(0)) {
        if (item->widget() != nullptr)
            item->widget()->deleteLater();
        delete item;
    }
}

void InputForm::setFacts(const ModelFacts &facts)
{
    const std::vector<core::InputText> given = inputs();
    clearRows();
    m_hasSamples = facts.hasSampleInputs;
    m_canGuess = facts.canGuess;
    for (const InputFacts &input : facts.inputs)
        addRow(input, facts.hasSampleInputs);
    m_list->setVisible(!m_rows.empty());
    m_free->setVisible(m_rows.empty());
    if (!given.empty())
        setInputs(given, tree());
    checkRows();
    Q_EMIT changed();
}

void InputForm::setUnknown()
{
    const std::vector<core::InputText> given = inputs();
    clearRows();
    m_list->hide();
    m_free->show();
    setInputs(given, tree());
}

// Inputs without a name go to the lines in order. What fits no line would be lost, so then the text is shown
// instead.
void InputForm::setInputs(const std::vector<core::InputText> &inputs, const QString &tree)
{
    m_tree->setText(tree);
    QStringList lines;
    bool allFit = !m_rows.empty();
    std::size_t next = 0;
    for (const core::InputText &input : inputs) {
        QString name = views::fromView(input.name);
        QString text = views::fromView(input.text);
        lines.push_back(name.isEmpty() ? text : name + QLatin1Char('=') + text);
        const auto row = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row &candidate) {
            const QString start = candidate.facts.name + QLatin1Char('=');
            if (name.isEmpty() && text.startsWith(start)) {
                name = candidate.facts.name;
                text = text.mid(start.size());
            }
            return candidate.facts.name == name;
        });
        while (next < m_rows.size() && m_rows[next].facts.isFixed)
            ++next;
        if (row != m_rows.end())
            row->text->setText(text);
        else if (name.isEmpty() && next < m_rows.size())
            m_rows[next++].text->setText(text);
        else
            allFit = false;
    }
    m_free->setPlainText(lines.join(QLatin1Char('\n')));
    if (allFit || inputs.empty())
        return;
    clearRows();
    m_list->hide();
    m_free->show();
}

std::vector<core::InputText> InputForm::inputs() const
{
    std::vector<core::InputText> inputs;
    if (!tree().isEmpty())
        return inputs;
    if (m_rows.empty()) {
        for (const QString &line : linesOf(*m_free))
            inputs.push_back({{}, line.toStdString()});
        return inputs;
    }
    for (const Row &row : m_rows)
        if (const QString text = row.text->text().trimmed(); !text.isEmpty() && !row.facts.isFixed)
            inputs.push_back({row.facts.name.toStdString(), text.toStdString()});
    return inputs;
}

QString InputForm::tree() const
{
    return m_tree->text().trimmed();
}

bool InputForm::isEmpty() const
{
    return std::all_of(m_rows.begin(), m_rows.end(),
                       [](const Row &row) { return row.text->text().trimmed().isEmpty(); });
}

QString InputForm::problemOf(const Row &row) const
{
    const QString text = row.text->text().trimmed();
    if (const QString wrong = text.isEmpty() ? QString() : parseProblem(text); !wrong.isEmpty())
        return needsTree(row.facts.expected)
                   ? tr("values of type %1 are given in the file that names all inputs")
                         .arg(row.facts.expected)
                   : wrong;
    if (!text.isEmpty())
        return {};
    if (row.facts.isFixed || m_hasSamples || !row.facts.isRequired || (m_canGuess && isEmpty()))
        return {};
    return tr("%1 is not given; the model takes %2").arg(row.facts.name, row.facts.expected);
}

void InputForm::checkRows()
{
    for (const Row &row : m_rows) {
        row.text->setEnabled(!row.facts.isFixed && tree().isEmpty());
        const QString text = tree().isEmpty() ? problemOf(row) : QString();
        row.problem->setText(text);
        row.problem->setVisible(!text.isEmpty());
        views::setStyleProperty(row.text, "problem", !text.isEmpty());
        row.text->setAccessibleDescription(text);
    }
}

QString InputForm::problem() const
{
    if (!tree().isEmpty())
        return QFileInfo::exists(tree()) ? QString() : tr("There is no file %1.").arg(tree());
    for (const Row &row : m_rows)
        if (const QString text = problemOf(row); !text.isEmpty())
            return tr("Input %1: %2.").arg(row.facts.name, text);
    if (m_rows.empty())
        for (const QString &line : linesOf(*m_free))
            if (const QString text = parseProblem(line); !text.isEmpty())
                return tr("Input “%1”: %2.").arg(line, text);
    return {};
}

bool InputForm::saysProblem() const
{
    return tree().isEmpty() && std::any_of(m_rows.begin(), m_rows.end(),
                                           [this](const Row &row) { return !problemOf(row).isEmpty(); });
}

bool InputForm::showProblem(const QString &problem)
{
    for (const Row &row : m_rows) {
        const QString start = QStringLiteral("input ") + row.facts.name;
        if (!problem.startsWith(start + QLatin1Char(':')) && !problem.startsWith(start + QLatin1Char(' ')))
            continue;
        row.problem->setText(problem);
        row.problem->show();
        views::setStyleProperty(row.text, "problem", true);
        row.text->setAccessibleDescription(problem);
        row.text->setFocus(Qt::OtherFocusReason);
        return true;
    }
    return false;
}

bool InputForm::eventFilter(QObject *watched, QEvent *event)
{
    auto *field = qobject_cast<QLineEdit *>(watched);
    if (field == nullptr || (event->type() != QEvent::DragEnter && event->type() != QEvent::Drop))
        return QWidget::eventFilter(watched, event);
    auto *drop = static_cast<QDropEvent *>(event);
    const QList<QUrl> urls = drop->mimeData()->urls();
    if (urls.size() != 1 || !urls.front().isLocalFile())
        return QWidget::eventFilter(watched, event);
    drop->acceptProposedAction();
    if (event->type() == QEvent::Drop)
        field->setText(urls.front().toLocalFile());
    return true;
}

} // namespace app
