// From the public options to what the host and the client are told.
#pragma once

#include "client/client.h"
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

}  // namespace redlock::uv
