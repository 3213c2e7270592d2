// What is said on a new connection before it may carry requests, in one write: log in, choose the database,
// and learn who we are to the server (CLIENT ID) and which server it is (run id), so that our leftovers can
// be dropped there later and nobody else's; and see that it is a server of the kind that locks need. Pure:
// bytes out, values in, a verdict.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/guard_facts.h"
#include "core/request.h"
#include "redis/codec.h"
#include "redis/guard_wire.h"
#include "redlock/node_url.h"

namespace redlock::uv {

// One connection as the server knows it.
struct Identity {
  std::int64_t client_id = 0;  // 0: unknown
  std::string run_id;          // empty: unknown

  // Client ids begin anew when a server restarts: only the same run makes them ours.
  [[nodiscard]] bool same_server(const Identity& other) const {
    return !run_id.empty() && run_id == other.run_id;
  }
};

// What a server said, fit for a log line: one without AUTH repeats the words that it did not understand.
std::string words_without(std::string text, const std::string& password);

class Handshake {
 public:
  enum class Step : std::uint8_t { more, ready, refused, nonsense };

  // `guarded`: the first verification of the guard goes along.
  explicit Handshake(const NodeUrl& url, bool guarded = false) : url_(url), guarded_(guarded) {}

  // Whoever is no master is refused, from the next begin() on.
  void want_master() { wants_master_ = true; }
  // From the next begin() on.
  void use_password(std::string password) {
    url_.password = std::move(password);
    url_.has_password = true;
  }
  // Begins anew; the bytes to send.
  std::string begin();
  Step on_value(const redis::Value& value);

  // After ready.
  [[nodiscard]] const Identity& identity() const { return identity_; }
  // After ready, and guarded. Without times.
  [[nodiscard]] const core::Verification& verification() const { return verification_; }
  [[nodiscard]] redis::Sections sections() const { return sections_; }
  // After refused or turned away: what that means for requests, and the server's words without the password.
  [[nodiscard]] core::Reply refusal() const;
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  [[nodiscard]] bool heard_nothing() const { return at_ == 0; }
  // After ready: what this server lacks that we can do without, and what that costs; often empty.
  [[nodiscard]] const std::string& shortcomings() const { return shortcomings_; }
  // One error and nothing else has come: if the connection ends now, that is why ("max number of clients",
  // protected mode).
  [[nodiscard]] bool turned_away() const { return at_ == 1 && !complaint_.empty(); }

 private:
  enum class Command : std::uint8_t {
    auth,
    select,
    client_id,
    set_name,
    info,
    replication,
    script,
    sections,
    guard
  };

  Step on_error(Command command, std::string_view text);
  Step on_info(std::string_view info);
  Step on_replication(std::string_view info);
  Step on_fact(const redis::Value& value);
  Step refuse(std::string why);
  [[nodiscard]] static std::string shortcoming(Command command);
  [[nodiscard]] std::string without_secrets(std::string_view text) const;

  NodeUrl url_;
  bool guarded_;
  bool wants_master_ = false;
  std::vector<redis::Value> facts_;
  core::Verification verification_;
  redis::Sections sections_ = redis::Sections::apart;
  std::vector<Command> expected_;
  std::size_t at_ = 0;
  Identity identity_;
  Cause cause_ = Cause::none;
  std::string complaint_;
  std::string shortcomings_;
};

}  // namespace redlock::uv
