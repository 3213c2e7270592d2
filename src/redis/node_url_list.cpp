// Lists of URLs are written with commas, and so are the hosts of Sentinels. Which comma is which is told by
// what stands around it, so that a list needs no quotes and a slip of the hand is still told of in the URL
// that has it.
#include <algorithm>
#include <cctype>

#include "redlock/node_url.h"

namespace redlock {
namespace {

constexpr auto kBlanks = " \t\r\n";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

// Without "://"; empty: it begins with none.
std::string scheme_of(std::string_view text) {
  std::string scheme(text.substr(0, std::min(text.find("://"), text.size())));
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.'; };
  if (scheme.size() == text.size() || !std::all_of(scheme.begin(), scheme.end(), fits)) return {};
  std::transform(scheme.begin(), scheme.end(), scheme.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return scheme;
}

// The comma behind the first URL, or the end.
std::size_t end_of_first(std::string_view list) {
  const auto begin = std::min(list.find_first_not_of(kBlanks), list.size());
  const auto scheme = scheme_of(list.substr(begin));
  auto comma = std::min(list.find(','), list.size());
  if (!scheme.ends_with("+sentinel")) return comma;
  const auto hosts_end = std::min(list.find_first_of("/?#", begin + scheme.size() + 3), list.size());
  while (comma < hosts_end && scheme_of(without_blanks(list.substr(comma + 1))).empty())
    comma = std::min(list.find(',', comma + 1), list.size());
  return comma;
}

}  // namespace

std::vector<std::string> split_node_urls(std::string_view list) {
  std::vector<std::string> urls;
  while (true) {
    const auto end = end_of_first(list);
    urls.emplace_back(without_blanks(list.substr(0, end)));
    if (end == list.size()) return urls;
    list.remove_prefix(end + 1);
  }
}

}  // namespace redlock
