// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "views/base/icon.h"

#include <QString>

class QFrame;
class QLabel;
class QPushButton;
class QToolButton;
class QWidget;

// Small constructors for the controls of the visual language; the style sheet dresses them by the properties
// set here.
namespace views {

// A label of one of the roles of the style sheet ("title", "heading", "strong", "second", "dense", "caption",
// "section", "mono", "monoDense", ...). Plain text, never rich text: names in traces are data.
QLabel *makeLabel(const QString &text, const char *role, QWidget *parent = nullptr);
// A label whose text is cut with an ellipsis when it has no room and shows all of it in a tooltip.
QLabel *makeElidedLabel(const QString &text, const char *role, QWidget *parent = nullptr);
// "nan", "inf", "warn", "ok", "accent", "muted" or "" for the plain colour.
void setTone(QLabel *label, const char *tone);
// "nan", "inf", "warn", "solid", "plain".
QLabel *makeBadge(const QString &text, const char *kind, QWidget *parent = nullptr);
// "primary", "link" or "" for the plain one.
QPushButton *makeButton(const QString &text, const char *kind, QWidget *parent = nullptr);
// A button with an icon only; NAME is its accessible name and tooltip.
QToolButton *makeIconButton(const Theme &theme, IconName icon, const QString &name,
                            QWidget *parent = nullptr);
// A label that shows a themed icon of SIDE pixels and follows the theme.
QWidget *makeIconLabel(const Theme &theme, IconName icon, core::ColorToken token, int side = 14,
                       QWidget *parent = nullptr);
QFrame *makeRule(QWidget *parent = nullptr);
// Sets a style property and repolishes.
void setStyleProperty(QWidget *widget, const char *name, const QVariant &value);

} // namespace views
