// The settings file: a name, "=" and a value on each line, and nothing else but comments and blank lines. No
// sections, no lists, no escapes: what there is to say does not need them, and whoever can read one line can
// read the file. The command line's library has a reader of its own for such files; it knows no line numbers
// and takes doubles and unknown names in its own way, so it is not used.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redlock/result.h"

namespace redlock::cli {

struct ConfigFile {
  struct Entry {
    std::string value;
    int line = 0;
  };
  std::string path;
  std::map<std::string, Entry, std::less<>> entries;  // by name, each one known
  std::vector<std::string> warnings;
};

// The text of a file. Errors are one line without a password: the place, what is wrong there, what would be
// right.
expected<ConfigFile, std::string> parse_config(const std::string& path, std::string_view text);

// `said` is from the command line; after it comes REDLOCK_CONFIG, then the usual places: redlock/redlock.conf
// in XDG_CONFIG_HOME or ~/.config, then /etc/redlock/redlock.conf. The first that is there is taken alone:
// with two files merged nobody could tell from one of them what holds. None is there: none is needed.
expected<std::optional<ConfigFile>, std::string> load_config(const std::optional<std::string>& said);

}  // namespace redlock::cli
