// What the nodes' keys come to, without I/O.
#pragma once

#include <vector>

#include "redis/codec.h"
#include "redlock/admin.h"

namespace redlock::admin {

// The order of the commands behind one node's answer to an inspection.
inline constexpr int kInspectReplies = 3;  // TYPE, GET, PTTL

// Fills in state, owner, type, time left, or the error, from those answers.
void read_key(const std::vector<redis::Value>& values, NodeKey& key);

// Fills in verdict, owner, time left and faults from `nodes`.
void judge(Inspection& inspection);

}  // namespace redlock::admin
