// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/dialogs/picture_save.h"

#include "app/session.h"
#include "app/settings.h"
#include "views/base/formatting.h"
#include "views/render/image_writer.h"
#include "views/render/svg_writer.h"

#include <QCoreApplication>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QMessageBox>
#include <QPointer>
#include <QSaveFile>

#include <filesystem>
#include <memory>

namespace app {

namespace {

constexpr double kPngScale = 2.0;
const QString kFolderKey = QStringLiteral("window/saveFolder");

QString pictureWords(const char *text)
{
    return QCoreApplication::translate("app::PictureSave", text);
}

core::Status writeText(const QString &path, const std::string &text)
{
    QSaveFile file(path);
    const auto bytes = static_cast<qint64>(text.size());
    if (!file.open(QIODevice::WriteOnly) || file.write(text.data(), bytes) != bytes || !file.commit())
        return core::Status(core::ErrorCode::unreadable,
                            path.toStdString() + ": " + file.errorString().toStdString());
    return core::Status::ok();
}

core::Status writePng(const core::DrawList &list, const QString &path, core::JobContext &job)
{
    const QString part = path + QStringLiteral(".part");
    const core::Status status = render::writePng(list, core::ThemeScheme::light, kPngScale,
                                                 QFile::encodeName(part).toStdString(), job);
    std::error_code error;
    if (status)
        std::filesystem::rename(QFile::encodeName(part).toStdString(), QFile::encodeName(path).toStdString(),
                                error);
    if (status && !error)
        return core::Status::ok();
    QFile::remove(part);
    return status ? core::Status(core::ErrorCode::unreadable, path.toStdString() + " cannot be written")
                  : status;
}

void tellFailure(QWidget &parent, const core::Status &status)
{
    auto *message = new QMessageBox(QMessageBox::Warning, pictureWords("The picture was not saved"),
                                    views::fromView(status.message()), QMessageBox::Ok, &parent);
    message->setAttribute(Qt::WA_DeleteOnClose);
    message->open();
}

} // namespace

core::Status writePictureFile(const views::PictureExport &picture, const QString &path, core::JobContext &job)
{
    const QString suffix = QFileInfo(path).suffix().toLower();
    if (suffix == QLatin1String("dot") || suffix == QLatin1String("gv"))
        return writeText(path, picture.dot);
    const core::DrawList framed = render::framedPicture(picture.list, {picture.title, picture.footer});
    if (suffix == QLatin1String("png"))
        return writePng(framed, path, job);
    return writeText(path, render::svgText(framed, core::ThemeScheme::light));
}

void askPictureFile(QWidget &parent, Session &session, views::PictureExport picture)
{
    if (picture.isEmpty())
        return;
    auto *dialog = new QFileDialog(&parent, pictureWords("Save the picture"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({pictureWords("SVG, text stays text (*.svg)"),
                            pictureWords("PNG, twice the size (*.png)"), pictureWords("Graphviz (*.dot)")});
    dialog->setDefaultSuffix(QStringLiteral("svg"));
    const QVariant folder = session.settings().value(kFolderKey);
    if (folder.isValid())
        dialog->setDirectory(folder.toString());
    dialog->selectFile(picture.fileName + QStringLiteral(".svg"));
    QObject::connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString &filter) {
        dialog->setDefaultSuffix(filter.section(QStringLiteral("*."), 1).chopped(1));
    });
    const auto shared = std::make_shared<const views::PictureExport>(std::move(picture));
    QObject::connect(
        dialog, &QFileDialog::fileSelected, &session,
        [dialog, shared, &session, owner = QPointer<QWidget>(&parent)](const QString &path) {
            session.settings().setValue(kFolderKey, dialog->directory().absolutePath());
            session.jobs().start(
                QStringLiteral("picture/") + path, pictureWords("Saving %1").arg(QFileInfo(path).fileName()),
                &session,
                [shared, path](core::JobContext &job) { return writePictureFile(*shared, path, job); },
                [owner](const core::Status &status) {
                    if (!status && !owner.isNull())
                        tellFailure(*owner, status);
                });
        });
    dialog->open();
}

} // namespace app
