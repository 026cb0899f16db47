// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;

namespace views {
class Theme;
}

namespace app {

// What the status row says of the open document; an empty text hides its part.
struct StatusFacts
{
    QString file;
    QString size;
    QString outputs;   // "546 / 546 outputs saved"
    QString gradients; // "638 / 638 gradients saved"
    QString source;    // "Source embedded"
    bool outputsComplete = false;
    bool gradientsComplete = false;
    bool sourceComplete = false;
};

// The last row of the window: file, coverage, source; right: the running job with Cancel, selection, zoom,
// counts. Owned by the main window.
class StatusRow : public QWidget
{
    Q_OBJECT

public:
    explicit StatusRow(const views::Theme &theme, QWidget *parent = nullptr);

    void setFacts(const StatusFacts &facts);
    void setSelectionText(const QString &text);
    void setOpText(const QString &text);
    void setZoomText(const QString &text);
    void setCountsText(const QString &text);
    // PERMILLE -1: how far is not known. An empty TITLE hides the job.
    void setJob(const QString &title, int permille);

Q_SIGNALS:
    void cancelRequested();

protected:
    void resizeEvent(QResizeEvent *event) override;
    bool event(QEvent *event) override;

private:
    struct Part
    {
        QWidget *icon = nullptr;
        QLabel *label = nullptr;
        QString text;
        QString brief; // where the row is short of room; empty: the icon alone, the text in its tooltip
    };
    Part addPart();
    static void setPart(Part &part, const QString &text, const QString &brief, bool complete);
    static void shorten(const Part &part, bool brief);
    // What is less needed gives way, so that the selection can be read: the middle of a long file name, words
    // of the coverage, then the counts (the graph says them too), then the word on the source.
    void fit();
    int neededWidth() const;

    const views::Theme &m_theme;
    QLabel *m_file;
    QLabel *m_size;
    Part m_outputs;
    Part m_gradients;
    Part m_source;
    QLabel *m_job;
    QProgressBar *m_progress;
    QPushButton *m_cancel;
    QLabel *m_selection;
    QLabel *m_op;
    QLabel *m_zoom;
    QLabel *m_counts;
    bool m_hasCounts = false;
};

} // namespace app
