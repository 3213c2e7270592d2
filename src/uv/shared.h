// What all connections of one host use, to nodes and to Sentinels.
#pragma once

#include <uv.h>

#include <functional>
#include <string>
#include <string_view>

#include "core/time.h"
#include "redis/codec.h"
#include "redlock/options.h"
#include "uv/lifetime.h"
#include "uv/random_pool.h"
#include "uv/stream.h"
#include "uv/tls_context.h"
#include "uv/turn.h"

namespace redlock::uv {

struct Shared {
  uv_loop_t* loop = nullptr;
  Lifetime* lifetime = nullptr;
  Turn* turn = nullptr;
  core::Millis connect_timeout{1000};
  core::Millis min_node_timeout{50};
  // Sentinels are asked so often whether a master is still the one. Well below the grace by which a promoted
  // replica settles longer than others: until then we may stay with its predecessor.
  core::Millis ask_again{5000};
  std::function<void(LogLevel, std::string_view)> log;
  TlsContext tls{TlsOptions{}};
  std::string password_file;  // for nodes whose URL has no password; empty: none
  redis::Encoder encoder;
  RandomPool random;
  ReadBuffer read_buffer{};
};

}  // namespace redlock::uv
