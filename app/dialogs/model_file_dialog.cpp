// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/model_file_dialog.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>

#include <utility>

namespace app {

void askModelFile(QWidget &owner, const QString &current, std::function<void(const QString &)> chosen)
{
    const auto tr = [](const char *text) {
        return QCoreApplication::translate("app::ModelFileDialog", text);
    };
    auto *dialog = new QFileDialog(&owner, tr("Choose a model"), QFileInfo(current).absolutePath(),
                                   tr("Models (*.pt2 *.pt *.pth *.ts);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    QObject::connect(dialog, &QFileDialog::fileSelected, &owner, std::move(chosen));
    dialog->open();
}

} // namespace app
