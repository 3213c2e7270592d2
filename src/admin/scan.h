// The keys of locks on each node, found by SCAN: bounded, since a database may hold millions of other keys
// and the node serves nobody else meanwhile than between two steps.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "admin/ask.h"
#include "redlock/options.h"

namespace redlock::admin {

struct Scan {
  bool permitted = false;         // false: it was not looked, or refused
  bool cut = false;               // there may be more
  std::vector<std::string> keys;  // under the prefix, each once; the guard's own are left out
};

// Of the nodes that `wanted` names by position.
std::vector<Scan> scan_locks(OneShot& shot, const ClientOptions& options, const std::vector<bool>& wanted);

}  // namespace redlock::admin
