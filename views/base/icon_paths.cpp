// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/base/icon.h"

#include <array>

namespace views {

namespace {

constexpr IconShape kAppMark[] = {{"R 1 1 14 14 3"}, {"O 8 8 3.4"}};
constexpr IconShape kBack[] = {{"M 10 3 L 5 8 L 10 13"}};
constexpr IconShape kForward[] = {{"M 6 3 L 11 8 L 6 13"}};
constexpr IconShape kSearch[] = {{"O 7 7 4.5"}, {"M 10.4 10.4 L 14 14"}};
constexpr IconShape kBookmark[] = {{"M 4 2 L 12 2 L 12 14 L 8 10.5 L 4 14 Z"}};
constexpr IconShape kShare[] = {
    {"M 8 10 L 8 1.8"}, {"M 4.8 4.8 L 8 1.8 L 11.2 4.8"}, {"M 3 9 L 2.2 14 L 13.8 14 L 13 9"}};
constexpr IconShape kSun[] = {{"O 8 8 2.8"},           {"M 8 1 L 8 2.6"},     {"M 8 13.4 L 8 15"},
                              {"M 1 8 L 2.6 8"},       {"M 13.4 8 L 15 8"},   {"M 3 3 L 4.2 4.2"},
                              {"M 11.8 11.8 L 13 13"}, {"M 3 13 L 4.2 11.8"}, {"M 11.8 4.2 L 13 3"}};
constexpr IconShape kSettings[] = {{"O 8 8 6"}, {"O 8 8 2.6"}};
constexpr IconShape kDocument[] = {{"M 4 1.8 L 9.2 1.8 L 12.6 5.2 L 12.6 14.2 L 4 14.2 Z"},
                                   {"M 9 2 L 9 5.4 L 12.4 5.4"}};
constexpr IconShape kFolder[] = {{"M 1.8 13 L 1.8 3.4 L 6.2 3.4 L 7.8 5.2 L 14.2 5.2 L 14.2 13 Z"}};
constexpr IconShape kFolderOpen[] = {{"M 1.8 12.6 L 1.8 3.4 L 6 3.4 L 7.6 5.2 L 12.6 5.2 L 12.6 7"},
                                     {"M 1.8 12.6 L 4.2 7 L 15 7 L 12.6 12.6 Z"}};
constexpr IconShape kClose[] = {{"M 4 4 L 12 12"}, {"M 12 4 L 4 12"}};
constexpr IconShape kPlus[] = {{"M 8 3 L 8 13"}, {"M 3 8 L 13 8"}};
constexpr IconShape kMinus[] = {{"M 3 8 L 13 8"}};
constexpr IconShape kFit[] = {{"M 2.5 6 L 2.5 2.5 L 6 2.5"},
                              {"M 10 2.5 L 13.5 2.5 L 13.5 6"},
                              {"M 13.5 10 L 13.5 13.5 L 10 13.5"},
                              {"M 6 13.5 L 2.5 13.5 L 2.5 10"}};
constexpr IconShape kFilter[] = {{"M 2 3 L 14 3 L 9.4 8.4 L 9.4 13.6 L 6.6 12 L 6.6 8.4 Z"}};
constexpr IconShape kPin[] = {
    {"M 5.4 2 L 10.6 2"}, {"M 6.4 2 L 6.2 7 L 4 9.6 L 12 9.6 L 9.8 7 L 9.6 2"}, {"M 8 9.6 L 8 14.4"}};
constexpr IconShape kDetach[] = {{"R 2 2 8.6 8.6 1.6"}, {"M 13.6 5.6 L 13.6 13.8 L 5.4 13.8"}};
constexpr IconShape kCollapseAll[] = {{"M 4 2.5 L 8 6 L 12 2.5"}, {"M 4 13.5 L 8 10 L 12 13.5"}};
constexpr IconShape kMore[] = {{"O 3 8 1.1", true}, {"O 8 8 1.1", true}, {"O 13 8 1.1", true}};
constexpr IconShape kChevronRight[] = {{"M 6 4 L 10 8 L 6 12"}};
constexpr IconShape kChevronDown[] = {{"M 4 6 L 8 10 L 12 6"}};
constexpr IconShape kChevronLeft[] = {{"M 10 4 L 6 8 L 10 12"}};
constexpr IconShape kOrigin[] = {{"M 8 1.4 L 14.6 8 L 8 14.6 L 1.4 8 Z", true}};
constexpr IconShape kCause[] = {{"M 8 1.8 L 14.2 8 L 8 14.2 L 1.8 8 Z"},
                                {"M 8 5.6 L 10.4 8 L 8 10.4 L 5.6 8 Z", true}};
constexpr IconShape kPropagated[] = {{"M 3.6 2.4 L 13.4 8 L 3.6 13.6 Z", true}};
constexpr IconShape kSpreads[] = {{"M 2 12 L 7 12 L 7 5 L 11 5"}, {"M 10.4 2 L 14.6 5 L 10.4 8 Z", true}};
constexpr IconShape kReached[] = {
    {"M 1.6 8 L 10.4 8"}, {"M 7 4.4 L 10.8 8 L 7 11.6"}, {"M 13.6 3 L 13.6 13"}};
constexpr IconShape kSink[] = {{"M 2.4 2.8 L 13.6 2.8"}, {"M 2.4 13.2 L 13.6 13.2"}, {"M 8 3 L 8 13"}};
constexpr IconShape kHealed[] = {{"O 8 8 6.2"}, {"M 5 8.2 L 7.2 10.4 L 11 5.8"}};
constexpr IconShape kOpenDot[] = {{"O 8 8 3.2"}};
constexpr IconShape kDot[] = {{"O 8 8 3.2", true}};
constexpr IconShape kWarning[] = {
    {"M 8 2 L 14.8 13.8 L 1.2 13.8 Z"}, {"M 8 6.2 L 8 9.6"}, {"O 8 11.6 0.9", true}};
constexpr IconShape kCritical[] = {{"O 8 8 6.2"}, {"M 5.8 5.8 L 10.2 10.2"}, {"M 10.2 5.8 L 5.8 10.2"}};
constexpr IconShape kInformation[] = {{"O 8 8 6.2"}, {"M 8 7.4 L 8 11.2"}, {"O 8 5 0.9", true}};
constexpr IconShape kCheck[] = {{"M 2.8 8.4 L 6.4 12 L 13.2 4"}};
constexpr IconShape kNotRun[] = {{"O 8 8 6.2"}, {"M 5 8 L 11 8"}};
constexpr IconShape kNote[] = {{"R 2.4 2.4 11.2 11.2 1.4"}, {"M 5 6 L 11 6"}, {"M 5 9.4 L 9 9.4"}};
constexpr IconShape kCopy[] = {{"R 5.4 5.4 8.4 8.4 1.4"},
                               {"M 10.6 5.2 L 10.6 2.2 L 2.2 2.2 L 2.2 10.6 L 5.2 10.6"}};
constexpr IconShape kFlag[] = {{"M 3.4 14.4 L 3.4 2"}, {"M 3.4 2.4 L 13 4.6 L 3.4 8.6 Z", true}};
constexpr IconShape kRecord[] = {{"O 8 8 6.2"}, {"O 8 8 2.8", true}};
constexpr IconShape kGraph[] = {
    {"R 1.8 1.8 4.6 4.6 1"}, {"R 9.6 9.6 4.6 4.6 1"}, {"M 4 6.6 L 4 12 L 9.4 12"}};
constexpr IconShape kPlay[] = {{"M 4 2.6 L 12.8 8 L 4 13.4 Z", true}};
constexpr IconShape kMinimize[] = {{"M 4 8 L 12 8"}};
constexpr IconShape kMaximize[] = {{"R 4 4 8 8 0.6"}};
constexpr IconShape kTensor[] = {{"R 2.2 2.2 11.6 11.6 1.2"}, {"M 8 2.4 L 8 13.6"}, {"M 2.4 8 L 13.6 8"}};
constexpr IconShape kModule[] = {{"R 2.2 4.6 11.6 9 1.2"}, {"M 4.6 2.2 L 11.4 2.2"}};
constexpr IconShape kParameter[] = {{"O 8 8 5.8"}, {"M 8 5 L 8 11"}, {"M 5 8 L 11 8"}};
constexpr IconShape kCode[] = {{"M 5.6 4 L 1.8 8 L 5.6 12"}, {"M 10.4 4 L 14.2 8 L 10.4 12"}};
constexpr IconShape kCommand[] = {{"M 3 4 L 7 8 L 3 12"}, {"M 8.4 12.4 L 13.4 12.4"}};

using Shapes = std::span<const IconShape>;

// In the order of IconName.
constexpr std::array kShapes = {
    Shapes(kAppMark),      Shapes(kBack),        Shapes(kForward),     Shapes(kSearch),
    Shapes(kBookmark),     Shapes(kShare),       Shapes(kSun),         Shapes(kSettings),
    Shapes(kDocument),     Shapes(kFolder),      Shapes(kFolderOpen),  Shapes(kClose),
    Shapes(kPlus),         Shapes(kMinus),       Shapes(kFit),         Shapes(kFilter),
    Shapes(kPin),          Shapes(kDetach),      Shapes(kCollapseAll), Shapes(kMore),
    Shapes(kChevronRight), Shapes(kChevronDown), Shapes(kChevronLeft), Shapes(kOrigin),
    Shapes(kCause),        Shapes(kPropagated),  Shapes(kSpreads),     Shapes(kReached),
    Shapes(kSink),         Shapes(kHealed),      Shapes(kOpenDot),     Shapes(kDot),
    Shapes(kWarning),      Shapes(kCritical),    Shapes(kInformation), Shapes(kCheck),
    Shapes(kNotRun),       Shapes(kNote),        Shapes(kCopy),        Shapes(kFlag),
    Shapes(kRecord),       Shapes(kGraph),       Shapes(kPlay),        Shapes(kMinimize),
    Shapes(kMaximize),     Shapes(kTensor),      Shapes(kModule),      Shapes(kParameter),
    Shapes(kCode),         Shapes(kCommand),
};
static_assert(kShapes.size() == static_cast<std::size_t>(IconName::command) + 1);

} // namespace

std::span<const IconShape> iconShapes(IconName name)
{
    return kShapes[static_cast<std::size_t>(name)];
}

} // namespace views
