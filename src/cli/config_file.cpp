// See config_file.h.
#include "cli/config_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "cli/descriptor.h"
#include "cli/secrets.h"
#include "cli/settings.h"
#include "cli/text.h"
#include "redlock/name.h"

namespace redlock::cli {

namespace {

constexpr std::size_t kMaxBytes = 64U << 10;  // a hundred times what all settings need
constexpr const char* kSystemFile = "/etc/redlock/redlock.conf";

unexpected<std::string> fault(std::string text) {
  return unexpected<std::string>(std::move(text));
}

// Insertions, deletions, changes, and neighbours that changed places.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), row(b.size() + 1), next(b.size() + 1);
  std::iota(row.begin(), row.end(), 0U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    next[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      next[j + 1] = std::min({row[j + 1] + 1, next[j] + 1, row[j] + (a[i] == b[j] ? 0U : 1U)});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        next[j + 1] = std::min(next[j + 1], before[j - 1] + 1);
    }
    before.swap(row);
    row.swap(next);
  }
  return row.back();
}

std::string unknown(std::string_view name) {
  constexpr std::size_t kShown = 40;
  const std::string shown = printable(name.substr(0, kShown)) + (name.size() > kShown ? "..." : "");
  if (name == "password") return "a password has a file of its own; write password-file = FILE";
  // A name of any length would cost its length times ours.
  const Setting* best = nullptr;
  std::size_t nearest = 3;
  if (name.size() <= kShown)
    for (const Setting& setting : kSettings)
      if (const auto far = distance(name, setting.name); far < nearest) {
        nearest = far;
        best = &setting;
      }
  if (best != nullptr) return fmt::format("there is no setting '{}'; write {} = ...", shown, best->name);
  std::string all;
  for (const Setting& setting : kSettings) (all += all.empty() ? "" : ", ") += setting.name;
  return fmt::format("there is no setting '{}'; there are {}", shown, all);
}

// Quotes keep blanks at the ends; nothing inside them is special.
std::string_view unquoted(std::string_view value) {
  const bool quoted = value.size() >= 2 && value.front() == '"' && value.back() == '"';
  return quoted ? value.substr(1, value.size() - 2) : value;
}

// Tabs are blanks here; all else has to be fit for a message and for Redis.
std::optional<std::string> wrong(std::string_view line) {
  std::string text(line);
  std::replace(text.begin(), text.end(), '\t', ' ');
  if (const auto bad = first_unprintable(text))
    return fmt::format("byte {} is not printable UTF-8; write it without", *bad + 1);
  return std::nullopt;
}

// The error is without the place.
expected<void, std::string> parse_line(std::string_view line, int number, ConfigFile& file) {
  const std::string_view text = trimmed(line);
  if (text.empty() || text.front() == '#' || text.front() == ';') return {};
  if (auto bad = wrong(line)) return fault(std::move(*bad));
  if (text.front() == '[') return fault("there are no sections; write NAME = VALUE");
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return fault("no '=' on this line; write NAME = VALUE");
  const std::string_view name = trimmed(text.substr(0, equals));
  const std::string_view value = unquoted(trimmed(text.substr(equals + 1)));
  const Setting* setting = find_setting(name);
  if (name.empty()) return fault("no name before '='; write NAME = VALUE");
  if (setting == nullptr) return fault(unknown(name));
  if (const auto former = file.entries.find(name); former != file.entries.end())
    return fault(fmt::format("{} was set on line {} already; keep one of them", name, former->second.line));
  if (value.empty() && name != "prefix")
    return fault(fmt::format("{} has no value; write one, or leave the line out", name));
  if (auto bad = value_fault(*setting, name, value)) return fault(std::move(*bad));
  file.entries[std::string(name)] = {std::string(value), number};
  return {};
}

// All of it, or why not.
expected<std::string, std::string> read_all(const std::string& path, struct stat& status) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid() || ::fstat(file.number(), &status) != 0) return fault(std::strerror(errno));
  if (S_ISDIR(status.st_mode)) return fault("it is a directory; name a file");
  std::string text(kMaxBytes + 1, '\0');
  std::size_t size = 0;
  ssize_t got = 0;
  while (size < text.size() && (got = ::read(file.number(), text.data() + size, text.size() - size)) > 0)
    size += static_cast<std::size_t>(got);
  if (got < 0) return fault(std::strerror(errno));
  if (size > kMaxBytes) return fault("it is longer than 64 KiB; is it the right file?");
  text.resize(size);
  return text;
}

expected<std::optional<ConfigFile>, std::string> load(const std::string& path, std::string_view where) {
  struct stat status {};
  const auto text = read_all(path, status);
  if (!text) return fault(fmt::format("{}: cannot read '{}': {}", where, printable(path), text.error()));
  auto file = parse_config(path, *text);
  if (!file) return fault(file.error());
  // Who may read the file may take every lock. To refuse would stop those who hold locks by it, for what has
  // happened already; so it is said, each time.
  const bool secret = std::any_of(file->entries.begin(), file->entries.end(), [](const auto& entry) {
    return mask_passwords(entry.second.value) != entry.second.value;
  });
  if (secret && (status.st_mode & S_IROTH) != 0)
    file->warnings.push_back(fmt::format(
        "'{0}' holds a password and everybody can read it; chmod o-r '{0}', or use password-file", path));
  return std::optional(std::move(*file));
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

std::optional<std::string> usual_place() {
  std::string folder;
  if (const char* config = environment("XDG_CONFIG_HOME"))
    folder = config;
  else if (const char* home = environment("HOME"))
    folder = std::string(home) + "/.config";
  if (const std::string path = folder + "/redlock/redlock.conf"; !folder.empty() && is_there(path))
    return path;
  if (is_there(kSystemFile)) return kSystemFile;
  return std::nullopt;
}

}  // namespace

expected<ConfigFile, std::string> parse_config(const std::string& path, std::string_view text) {
  ConfigFile file;
  file.path = path;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto read = parse_line(line, ++number, file); !read)
      return fault(fmt::format("{}:{}: {}", printable(path), number, read.error()));
    at = end + 1;
  }
  return file;
}

expected<std::optional<ConfigFile>, std::string> load_config(const std::optional<std::string>& said) {
  if (said && said->empty())
    return fault("--config: the name of the file is empty; /dev/null is a file without settings");
  if (said) return load(*said, "--config");
  if (const char* inherited = environment("REDLOCK_CONFIG")) return load(inherited, "REDLOCK_CONFIG");
  if (const auto path = usual_place()) return load(*path, "settings file (--config /dev/null does without)");
  return std::optional<ConfigFile>();
}

}  // namespace redlock::cli
