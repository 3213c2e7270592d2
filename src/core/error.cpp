// Errors as text: words for programs (to_string: stable, they stand in `--json`), a line for people
// (message).
#include "redlock/error.h"

#include <algorithm>
#include <utility>

#include "redlock/duration.h"
#include "redlock/name.h"

namespace redlock {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::contended:
      return "contended";
    case ErrorCode::settling:
      return "settling";
    case ErrorCode::denied:
      return "denied";
    case ErrorCode::too_slow:
      return "too_slow";
    case ErrorCode::no_quorum:
      return "no_quorum";
    case ErrorCode::lost:
      return "lost";
    case ErrorCode::overloaded:
      return "overloaded";
    case ErrorCode::closed:
      return "closed";
    case ErrorCode::wrong_thread:
      return "wrong_thread";
  }
  return "?";
}

std::string_view to_string(Vote vote) {
  switch (vote) {
    case Vote::pending:
      return "pending";
    case Vote::granted:
      return "granted";
    case Vote::refused:
      return "refused";
    case Vote::unknown:
      return "unknown";
  }
  return "?";
}

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "none";
    case Cause::held:
      return "held";
    case Cause::missing:
      return "missing";
    case Cause::timed_out:
      return "timed_out";
    case Cause::connecting:
      return "connecting";
    case Cause::not_connected:
      return "not_connected";
    case Cause::tls:
      return "tls";
    case Cause::disconnected:
      return "disconnected";
    case Cause::backlog:
      return "backlog";
    case Cause::authentication:
      return "authentication";
    case Cause::permission:
      return "permission";
    case Cause::read_only:
      return "read_only";
    case Cause::loading:
      return "loading";
    case Cause::out_of_memory:
      return "out_of_memory";
    case Cause::misconfigured:
      return "misconfigured";
    case Cause::wrong_type:
      return "wrong_type";
    case Cause::master_down:
      return "master_down";
    case Cause::max_clients:
      return "max_clients";
    case Cause::protocol:
      return "protocol";
    case Cause::other:
      return "other";
    case Cause::settling:
      return "settling";
    case Cause::unverified:
      return "unverified";
    case Cause::evicting:
      return "evicting";
    case Cause::own_clock:
      return "own_clock";
    case Cause::mismatch:
      return "mismatch";
    case Cause::same_server:
      return "same_server";
    case Cause::no_fencing:
      return "no_fencing";
  }
  return "?";
}

namespace {

std::string_view meaning(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return "invalid arguments";
    case ErrorCode::cancelled:
      return "cancelled";
    case ErrorCode::contended:
      return "held by somebody else";
    case ErrorCode::settling:
      return "nodes that lost their memory do not vote yet";
    case ErrorCode::denied:
      return "authentication or permission failed";
    case ErrorCode::too_slow:
      return "the nodes answered too late";
    case ErrorCode::no_quorum:
      return "no majority of the nodes could be asked";
    case ErrorCode::lost:
      return "the lease is over";
    case ErrorCode::overloaded:
      return "a limit of this client was reached";
    case ErrorCode::closed:
      return "the client is shutting down";
    case ErrorCode::wrong_thread:
      return "a blocking call on the client's own loop thread";
  }
  return "error";
}

std::string_view meaning(Cause cause) {
  switch (cause) {
    case Cause::none:
      return "";
    case Cause::held:
      return "held by another token";
    case Cause::missing:
      return "the key is not there";
    case Cause::timed_out:
      return "no answer in time";
    case Cause::connecting:
      return "still connecting";
    case Cause::not_connected:
      return "not connected";
    case Cause::tls:
      return "no TLS connection";
    case Cause::disconnected:
      return "the connection broke";
    case Cause::backlog:
      return "too many requests wait for its answers";
    case Cause::authentication:
      return "authentication failed";
    case Cause::permission:
      return "not permitted";
    case Cause::read_only:
      return "read-only, a replica";
    case Cause::loading:
      return "still loading its data";
    case Cause::out_of_memory:
      return "out of memory";
    case Cause::misconfigured:
      return "cannot persist or replicate what it is told";
    case Cause::wrong_type:
      return "the key is of a type that is no lock";
    case Cause::master_down:
      return "a replica without its master";
    case Cause::max_clients:
      return "has too many clients";
    case Cause::protocol:
      return "does not answer as Redis does";
    case Cause::other:
      return "";
    case Cause::settling:
      return "settling after a loss of memory";
    case Cause::unverified:
      return "not verified yet";
    case Cause::evicting:
      return "may evict locks (set maxmemory-policy noeviction)";
    case Cause::own_clock:
      return "not counted, since the clock of this machine stood still";
    case Cause::mismatch:
      return "not counted, since the guards differ";
    case Cause::same_server:
      return "the same server as another node";
    case Cause::no_fencing:
      return "could not raise the counter of fencing tokens";
  }
  return "";
}

std::string_view meaning(Vote vote) {
  switch (vote) {
    case Vote::pending:
      return "not waited for";
    case Vote::granted:
      return "granted";
    case Vote::refused:
      return "refused";
    case Vote::unknown:
      return "no vote";
  }
  return "";
}

bool same_answer(const NodeReport& a, const NodeReport& b) {
  return a.vote == b.vote && a.cause == b.cause && a.text == b.text;
}

// "refused, out of memory (OOM command not allowed ...)"; the time left is the longest that the group named.
std::string answer(const NodeReport& report, std::optional<std::chrono::milliseconds> time_left) {
  std::string line(meaning(report.vote));
  const auto cause = meaning(report.cause);
  if (!cause.empty()) (line += line.empty() ? "" : ", ") += cause;
  if (time_left) (line += " for another ") += format_duration(*time_left);
  if (report.text.empty()) return line;
  if (cause.empty()) return line + ", " + report.text;
  return line + " (" + report.text + ")";
}

// A group for each different answer, in the order of its first node; so five nodes that are down read as one
// clause.
std::string all_answers(const std::vector<NodeReport>& nodes) {
  std::string line;
  std::vector<bool> told(nodes.size(), false);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (told[i]) continue;
    std::string names;
    std::optional<std::chrono::milliseconds> time_left;
    for (std::size_t j = i; j < nodes.size(); ++j) {
      if (told[j] || !same_answer(nodes[i], nodes[j])) continue;
      told[j] = true;
      (names += names.empty() ? "" : ", ") += nodes[j].node;
      if (nodes[j].time_left)
        time_left = std::max(time_left.value_or(*nodes[j].time_left), *nodes[j].time_left);
    }
    line += "; " + names + ": " + answer(nodes[i], time_left);
  }
  return line;
}

}  // namespace

std::string Error::message() const {
  std::string line(meaning(code));
  if (time_left) {
    line += " for another " + format_duration(*time_left);
    if (code == ErrorCode::contended) line += " at most, unless extended";
  }
  if (!detail.empty()) line += ": " + detail;
  line += all_answers(nodes);
  return printable(line);
}

}  // namespace redlock
