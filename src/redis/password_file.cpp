// Small files, read whole. Not a stream for the password: its buffer would keep a copy.
#include "redis/password_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "redlock/name.h"

namespace redlock::redis {
namespace {

constexpr std::size_t kMaxPassword = 4095;  // far above any that Redis users have; a longer line is a mistake

std::string cannot_read(const std::string& path, const std::string& why) {
  return "cannot read '" + printable(path) + "': " + why;
}

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path) {
  return {std::fopen(path.c_str(), "re"), &std::fclose};
}

}  // namespace

std::optional<std::string> file_fault(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (error) return cannot_read(path, error.message());
  if (!std::filesystem::is_regular_file(status)) return cannot_read(path, "it is not a regular file");
  if (!open_file(path)) return cannot_read(path, std::strerror(errno));
  return std::nullopt;
}

expected<std::string, std::string> read_password_file(const std::string& path) {
  if (auto fault = file_fault(path)) return unexpected<std::string>(std::move(*fault));
  const File file = open_file(path);
  if (!file) return unexpected<std::string>(cannot_read(path, std::strerror(errno)));
  char buffer[kMaxPassword + 1];
  std::setbuf(file.get(), nullptr);
  const std::size_t size = std::fread(buffer, 1, sizeof buffer, file.get());
  const bool failed = std::ferror(file.get()) != 0;
  std::string line(buffer, static_cast<std::size_t>(std::find(buffer, buffer + size, '\n') - buffer));
  ::explicit_bzero(buffer, sizeof buffer);
  if (failed) return unexpected<std::string>(cannot_read(path, "an error on reading"));
  if (line.size() > kMaxPassword)
    return unexpected<std::string>(cannot_read(path, "its first line is longer than 4095 bytes"));
  if (!line.empty() && line.back() == '\r') line.pop_back();
  if (line.empty())
    return unexpected<std::string>(cannot_read(path, "its first line, the password, is empty"));
  return line;
}

}  // namespace redlock::redis
