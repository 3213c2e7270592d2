// Plain write(2): a result that could not be written must be noticed at once, since for `acquire` the token
// is the only handle on a lock that is held.
#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/json.h"
#include "cli/secrets.h"

namespace redlock::cli {

namespace {

// The value is errno, 0 when all was written.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

// The library names its own options; here they have the names of ours.
std::string in_our_words(std::string text) {
  static constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"max_ttl is", "--max-ttl is"},
      {"connect_timeout is", "--connect-timeout is"},
      {"min_node_timeout is", "--node-timeout is"},
      {"password_file: ", "--password-file: "},
      {"guard.deployment is", "--deployment is"},
      {"guard.grace is", "--guard-grace is"},
      {"tls.ca_file", "--tls-ca"},
      {"tls.certificate_file", "--tls-cert"},
      {"tls.key_file", "--tls-key"},
      {"tls.server_name", "--tls-server-name"},
      {"tls.verify is false", "--tls-no-verify is set"},
      {"tls.verify is off", "--tls-no-verify is set"}};
  for (const auto& [theirs, ours] : kNames)
    for (auto at = text.find(theirs); at != std::string::npos; at = text.find(theirs, at + ours.size()))
      text.replace(at, theirs.size(), ours);
  return text;
}

// What to do about an error of the library. Its own detail says so where it knows better.
std::string_view remedy(const Error& error) {
  const bool foreign = std::any_of(error.nodes.begin(), error.nodes.end(),
                                   [](const NodeReport& node) { return node.cause == Cause::mismatch; });
  switch (error.code) {
    case ErrorCode::invalid:
      return foreign ? "write the --nodes, --max-ttl and --deployment of the others, or change them for "
                       "everybody with 'redlock init --reconfigure'"
                     : "";
    case ErrorCode::cancelled:
    case ErrorCode::closed:
    case ErrorCode::wrong_thread:
      return "";
    case ErrorCode::contended:
      return error.detail.empty() ? "wait for it (--wait), or see whose it is with 'redlock inspect'" : "";
    case ErrorCode::settling:
      return "wait: this ends by itself, and 'redlock status' shows when";
    case ErrorCode::denied:
      return "check the password (--password-file, REDLOCK_PASSWORD) and the rights of the user (ACL)";
    case ErrorCode::too_slow:
      return "write a longer --ttl, or see with 'redlock -vv' which nodes are slow";
    case ErrorCode::no_quorum:
      return "check that these nodes run and are the right ones (--nodes, REDLOCK_NODES, 'redlock config')";
    case ErrorCode::lost:
      return "acquire it anew; others may have had it meanwhile";
    case ErrorCode::overloaded:
      return "allow more open files (ulimit -n)";
  }
  return "";
}

}  // namespace

Failure usage(std::string message) {
  return {number(Exit::usage), std::string(to_string(ErrorCode::invalid)), std::move(message), {}};
}

Failure internal(std::string message) {
  return {number(Exit::internal), "internal", std::move(message), {}};
}

Failure failure(const Error& error, std::string_view name) {
  std::string message = name.empty() ? error.message() : fmt::format("'{}': {}", name, error.message());
  if (const auto what_to_do = remedy(error); !what_to_do.empty()) message += fmt::format("; {}", what_to_do);
  return {number(exit_code(error.code)), std::string(to_string(error.code)), message, error.nodes};
}

int Output::fail(const Failure& failure) {
  const std::string message = in_our_words(mask_passwords(failure.message));
  const bool red = colored(STDERR_FILENO);
  write_all(STDERR_FILENO,
            fmt::format("{}redlock:{} {}\n", red ? "\033[31m" : "", red ? "\033[0m" : "", message));
  if (json && stdout_is_ours_) write_all(STDOUT_FILENO, error_json(failure, message));
  return failure.exit;
}

void Output::note(std::string_view line) const {
  if (!quiet) write_all(STDERR_FILENO, fmt::format("redlock: {}\n", in_our_words(mask_passwords(line))));
}

void Output::prompt(std::string_view text) {
  write_all(STDERR_FILENO, text);
}

bool Output::print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return true;
  stdout_is_ours_ = false;
  fail(internal(fmt::format("cannot write to standard output: {}", std::strerror(error))));
  return false;
}

bool Output::colored(int descriptor) const {
  if (color != Color::automatic) return color == Color::always;
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (no_color == nullptr || *no_color == '\0') && term != nullptr &&
         std::strcmp(term, "dumb") != 0;
}

}  // namespace redlock::cli
