// One look at the keys of some names on every node, for the calls that begin with one.
#pragma once

#include <vector>

#include "admin/one_shot.h"
#include "redlock/admin.h"

namespace redlock::admin {

std::vector<Inspection> look(OneShot& shot, const ClientOptions& options, const std::vector<LockName>& names);

// What a node is called that could not be asked for this cause.
KeyState state_without_answer(Cause cause);

}  // namespace redlock::admin
