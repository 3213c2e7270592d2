// From the public options to what the host and the client are told.
#pragma once

#include "client/client.h"
#include "core/time.h"
#include "redlock/error.h"
#include "redlock/options.h"
#include "redlock/result.h"
#include "uv/uv_host.h"

namespace redlock::uv {

struct Configuration {
  HostConfig host;
  client::ClientConfig client;
};

// Error: invalid. The log of both is the options' behind a guard, since an exception must not cross libuv's
// frames.
expected<Configuration, Error> configure(const ClientOptions& options);

// How long the end of a client waits for the nodes' last answers. The releases have left by then; what is
// waited for is a kernel that could not take them at once, or a node that has forgotten the script. A node
// that is down keeps the client from being quiet for a whole ttl and is not worth that.
core::Millis farewell(const ClientOptions& options);

}  // namespace redlock::uv
