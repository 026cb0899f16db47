// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/settings_dialog.h"

#include "app/settings.h"
#include "views/base/combo_arrow.h"
#include "views/base/elided_label.h"
#include "views/base/widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFormLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QVBoxLayout>

namespace app {

SettingsDialog::SettingsDialog(views::Theme &theme, Settings &settings, QWidget *parent)
    : QDialog(parent), m_theme(theme), m_settings(settings)
{
    setWindowTitle(tr("Settings"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(22, 18, 22, 16);
    column->setSpacing(14);
    column->addWidget(views::makeLabel(tr("Settings"), "title", this));
    auto *form = new QFormLayout;
    form->setHorizontalSpacing(16);
    form->setVerticalSpacing(10);
    addLook(form);
    addStart(form);
    column->addLayout(form);
    column->addStretch(1);
    QLabel *place = views::makeElidedLabel(tr("Kept in %1").arg(settings.filePath()), "caption", this);
    views::elideInTheMiddle(place);
    column->addWidget(place);
    QPushButton *close = views::makeButton(tr("Close"), "primary", this);
    close->setDefault(true);
    connect(close, &QPushButton::clicked, this, &QDialog::accept);
    column->addWidget(close, 0, Qt::AlignRight);
    setMinimumWidth(440);
}

void SettingsDialog::addLook(QFormLayout *form)
{
    auto *mode = new QComboBox(this);
    mode->setAccessibleName(tr("Theme"));
    for (const auto &[value, text] : {std::pair{views::ThemeMode::system, tr("As the desktop")},
                                      {views::ThemeMode::light, tr("Light")},
                                      {views::ThemeMode::dark, tr("Dark")},
                                      {views::ThemeMode::highContrast, tr("High contrast")}}) {
        mode->addItem(text, static_cast<int>(value));
        if (value == m_theme.mode())
            mode->setCurrentIndex(mode->count() - 1);
    }
    views::addComboArrow(m_theme, mode);
    connect(mode, &QComboBox::currentIndexChanged, this,
            [this, mode] { Q_EMIT themeChosen(mode->currentData().toInt()); });
    form->addRow(tr("Theme"), mode);
    auto *text = new QSpinBox(this);
    text->setAccessibleName(tr("Text size"));
    text->setRange(100, 200);
    text->setSingleStep(10);
    text->setSuffix(tr(" %"));
    text->setValue(m_theme.textPercent());
    connect(text, &QSpinBox::valueChanged, this, [this](int percent) {
        m_theme.setTextPercent(percent);
        m_settings.setTextPercent(m_theme.textPercent());
    });
    form->addRow(tr("Text size"), text);
    auto *motion = new QCheckBox(tr("No animation"), this);
    motion->setAccessibleName(motion->text());
    motion->setChecked(m_settings.reducedMotion());
    connect(motion, &QCheckBox::toggled, this, [this](bool reduced) {
        m_settings.setReducedMotion(reduced);
        Q_EMIT motionChosen(reduced);
    });
    form->addRow(tr("Motion"), motion);
    auto *frame = new QCheckBox(tr("Use the desktop's title bar (from the next start on)"), this);
    frame->setAccessibleName(frame->text());
    frame->setChecked(m_settings.useDesktopTitleBar());
    connect(frame, &QCheckBox::toggled, this, [this](bool use) { m_settings.setUseDesktopTitleBar(use); });
    form->addRow(tr("Window"), frame);
}

void SettingsDialog::addStart(QFormLayout *form)
{
    auto *restore = new QCheckBox(tr("Open the documents of the last session"), this);
    restore->setAccessibleName(restore->text());
    restore->setChecked(m_settings.restoresDocuments());
    connect(restore, &QCheckBox::toggled, this, [this](bool on) { m_settings.setRestoresDocuments(on); });
    form->addRow(tr("Start"), restore);
}

} // namespace app
