// Finding a password needs no full URL parser, and must not use one: it has to work on URLs that are wrong,
// since those are the ones that end up in error messages.
#include "cli/secrets.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>

namespace redlock::cli {

namespace {

struct Range {
  std::size_t begin;
  std::size_t end;
};

// The passwords in `text`. The authority ends at the first '/' or, in lists, at a comma that begins another
// URL; an '@' in a password should have been encoded, so the last one counts. A slash in a password should
// have been encoded as well; then the '@' stands behind it, and all before it is taken. Where Sentinels have
// a password of their own, all behind its name is.
std::vector<Range> find_passwords(std::string_view text) {
  constexpr std::string_view kSentinels = "sentinel_password=";
  std::vector<Range> found;
  for (auto at = text.find("://"); at != std::string_view::npos; at = text.find("://", at + 3)) {
    const std::size_t begin = at + 3;
    std::size_t end = std::min(text.find("://", begin), text.size());
    const std::size_t comma = text.rfind(',', end);
    if (end != text.size() && comma != std::string_view::npos && comma >= begin) end = comma;
    const std::size_t space = text.find_first_of(" \t\n'\"", begin);
    end = std::min(end, space);
    const std::string_view url = text.substr(begin, end - begin);
    const std::size_t colon = url.find(':');
    const std::size_t sign = url.rfind('@');
    const bool has_login =
        colon != std::string_view::npos && sign != std::string_view::npos && colon + 1 < sign;
    if (has_login) found.push_back({begin + colon + 1, begin + sign});
    const std::size_t query = url.find(kSentinels);
    if (query == std::string_view::npos) continue;
    const std::size_t behind = begin + query + kSentinels.size();
    if (has_login && behind < found.back().end)
      found.back().end = end;
    else if (behind < end)
      found.push_back({behind, end});
  }
  return found;
}

}  // namespace

std::string mask_passwords(std::string_view text) {
  std::string masked;
  std::size_t done = 0;
  for (const Range& range : find_passwords(text)) {
    masked.append(text.substr(done, range.begin - done)).append("***");
    done = range.end;
  }
  return masked.append(text.substr(done));
}

void scrub_arguments(int argc, char** argv) {
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    for (const Range& range : find_passwords(argv[i]))
      std::fill(argv[i] + range.begin, argv[i] + range.end, '*');
  }
}

expected<std::string, std::string> read_password_file(std::string_view where, const std::string& path) {
  const auto failed = [&](std::string_view why) {
    return unexpected<std::string>(fmt::format("{}: cannot read '{}': {}", where, path, why));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return failed(std::strerror(errno));
  char buffer[4096];  // far above any password that Redis users have; a line that fills it is a mistake
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < sizeof buffer && (got = ::read(file, buffer + size, sizeof buffer - size)) > 0)
    size += static_cast<std::size_t>(got);
  const int error = got < 0 ? errno : 0;
  ::close(file);
  if (error != 0) return failed(std::strerror(error));
  std::string line(buffer, static_cast<std::size_t>(std::find(buffer, buffer + size, '\n') - buffer));
  ::explicit_bzero(buffer, sizeof buffer);
  if (line.size() == sizeof buffer) return failed("its first line is longer than 4095 bytes");
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (line.empty()) return failed("its first line, the password, is empty");
  return line;
}

std::vector<std::string> command_environment(const char* const* environment, std::string_view name,
                                             std::string_view token, std::optional<std::uint64_t> fence) {
  std::vector<std::string> result;
  for (; *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::string_view key = entry.substr(0, entry.find('='));
    if (key == "REDLOCK_PASSWORD" || key == "REDLOCK_NAME" || key == "REDLOCK_TOKEN") continue;
    if (key == "REDLOCK_FENCE") continue;
    if (key == "REDLOCK_NODES" && !find_passwords(entry).empty()) continue;
    result.emplace_back(entry);
  }
  result.push_back(fmt::format("REDLOCK_NAME={}", name));
  result.push_back(fmt::format("REDLOCK_TOKEN={}", token));
  if (fence) result.push_back(fmt::format("REDLOCK_FENCE={}", *fence));
  return result;
}

}  // namespace redlock::cli
