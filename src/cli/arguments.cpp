// The library takes any bytes for a name; the program takes what a terminal, a log and a shell can show
// without harm: UTF-8 without control characters.
#include "cli/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/text.h"
#include "redlock/node_url.h"

namespace redlock::cli {

expected<LockName, std::string> parse_name(std::string text) {
  if (text.empty()) return unexpected<std::string>("NAME is empty; write 1 to 1024 bytes of printable UTF-8");
  if (text.size() > LockName::kMaxBytes)
    return unexpected<std::string>(
        fmt::format("NAME has {} bytes; write at most {}", text.size(), LockName::kMaxBytes));
  if (const auto at = first_unprintable(text))
    return unexpected<std::string>(
        fmt::format("NAME '{}' has a byte at position {} that is not printable UTF-8; write it without",
                    printable(text), *at + 1));
  auto name = LockName::make(std::move(text));
  if (!name) return unexpected<std::string>(name.error().message());
  return std::move(*name);
}

expected<std::vector<std::string>, std::string> parse_nodes(std::string_view where, std::string_view text) {
  auto nodes = split_node_urls(text);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].empty())
      return unexpected<std::string>(fmt::format(
          "{}: URL {} of the list is empty; write redis://host:port,redis://host:port,...", where, i + 1));
    if (const auto parsed = parse_node_url(nodes[i]); !parsed)
      return unexpected<std::string>(fmt::format("{}: {}", where, parsed.error()));
  }
  return nodes;
}

expected<int, std::string> parse_exit_code(std::string_view option, std::string_view text) {
  int code = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code);
  if (error != std::errc() || end != text.data() + text.size() || code < 0 || code > 255)
    return unexpected<std::string>(
        fmt::format("{}: '{}' is no exit code; write a number from 0 to 255", option, printable(text)));
  return code;
}

}  // namespace redlock::cli
