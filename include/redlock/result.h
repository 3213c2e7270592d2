// The result type of every call that can fail: a value or an error, without exceptions.
#pragma once

#include <tl/expected.hpp>

namespace redlock {

template <class T, class E>
using expected = tl::expected<T, E>;

template <class E>
using unexpected = tl::unexpected<E>;

}  // namespace redlock
