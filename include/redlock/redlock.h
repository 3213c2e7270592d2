// Everything but the administration calls (admin.h) and the client on libuv (async_client.h), which brings
// uv.h.
#pragma once

#include "redlock/detached.h"      // IWYU pragma: export
#include "redlock/duration.h"      // IWYU pragma: export
#include "redlock/error.h"         // IWYU pragma: export
#include "redlock/fencing.h"       // IWYU pragma: export
#include "redlock/lease.h"         // IWYU pragma: export
#include "redlock/lock_manager.h"  // IWYU pragma: export
#include "redlock/mutex.h"         // IWYU pragma: export
#include "redlock/name.h"          // IWYU pragma: export
#include "redlock/node_url.h"      // IWYU pragma: export
#include "redlock/options.h"       // IWYU pragma: export
#include "redlock/token.h"         // IWYU pragma: export
#include "redlock/version.h"       // IWYU pragma: export
