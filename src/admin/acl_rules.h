// Whether the rules of a user let it run a command, for servers that cannot be asked (ACL DRYRUN is of 7.0).
#pragma once

#include <string_view>
#include <vector>

namespace redlock::admin {

// `rules`: the "commands" of ACL GETUSER, as "-@all +get +@read -keys"; the last word that concerns the
// command counts. `categories`: those that the command belongs to, without "@".
bool allowed_by_rules(std::string_view rules, std::string_view command,
                      const std::vector<std::string_view>& categories);

}  // namespace redlock::admin
