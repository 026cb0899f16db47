// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace core {

// The dispatch key that ops of a tapped run pass through (dispatch_tap.h).
inline constexpr auto kTapKey = c10::DispatchKey::TESTING_ONLY_GenericMode;

// While it lives, ops that this thread calls are not recorded, leave no autograd history and are not cast.
struct QuietScope
{
    c10::impl::ExcludeDispatchKeyGuard untapped{kTapKey};
    at::AutoDispatchBelowADInplaceOrView belowAutograd;
    c10::impl::ExcludeDispatchKeyGuard noAutocast{c10::autocast_dispatch_keyset};
};

} // namespace core
