// See acl_rules.h.
#include "admin/acl_rules.h"

#include <algorithm>

namespace redlock::admin {

bool allowed_by_rules(std::string_view rules, std::string_view command,
                      const std::vector<std::string_view>& categories) {
  bool allowed = false;
  while (!rules.empty()) {
    const auto end = std::min(rules.find(' '), rules.size());
    const std::string_view word = rules.substr(0, end);
    rules.remove_prefix(std::min(end + 1, rules.size()));
    if (word.size() < 2 || (word[0] != '+' && word[0] != '-')) continue;
    std::string_view what = word.substr(1);
    bool concerns = what == command;
    if (what[0] == '@') {
      what.remove_prefix(1);
      concerns = what == "all" || std::find(categories.begin(), categories.end(), what) != categories.end();
    }
    if (concerns) allowed = word[0] == '+';
  }
  return allowed;
}

}  // namespace redlock::admin
