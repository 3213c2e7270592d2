// The conversation on one connection without its I/O: requests are put in order, encoded, matched with the
// replies, and timed out. A timeout ends the waiting, not the request: its reply is still expected, in its
// place, and delivered late.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/host.h"
#include "core/request.h"
#include "core/rtt.h"
#include "core/time.h"
#include "redis/codec.h"
#include "redis/guard_wire.h"
#include "uv/pending.h"
#include "uv/uv_host.h"

namespace redlock::uv {

// An answer that is handed out at the end of the turn, because there was nothing to ask the node.
struct Answer {
  client::RequestTag tag{};
  core::Reply reply{};
  std::string text;
  std::unique_ptr<RawCall> raw;  // instead of the tag
};

class Pipeline {
 public:
  // So many requests may be unanswered on one connection: far more than a healthy node ever has, few enough
  // that a hung one costs little memory. Those that clean up get twice that.
  static constexpr std::size_t kBacklog = 4096;

  using OnReply = std::function<void(const client::RequestTag&, const core::Reply&, std::string_view text)>;
  // Right before the replies to the votes that it is about.
  using OnCheck = std::function<void(const core::Reading&)>;

  // Without `on_check` nothing is checked.
  Pipeline(redis::Encoder& encoder, core::Micros min_timeout, OnReply on_reply, OnCheck on_check = {});

  [[nodiscard]] bool has_room(core::RequestKind kind) const;
  [[nodiscard]] bool has_room_for_raw() const { return pending_.size() < kBacklog; }
  void push(const client::RequestTag& tag, const core::Request& request, std::string_view key,
            core::Micros timeout_cap);
  void push_raw(std::string_view resp, int replies, core::Micros timeout, std::unique_ptr<RawCall> call);
  void push_silent(std::string_view resp);

  // Bytes that wait to be written. sent() before they are: timeouts run from there, and the guard check goes
  // behind the votes among them.
  [[nodiscard]] std::string& out() { return out_; }
  void sent(core::Micros now);

  // Where the next value is to be decoded to, and that it has been. False: the server speaks nonsense,
  // problem() says how; the connection must end.
  redis::Value& slot();
  bool accept(core::Micros now);
  [[nodiscard]] const std::string& problem() const { return problem_; }

  // No later than the first timeout that is due; none: nothing waits.
  [[nodiscard]] std::optional<core::Micros> next_deadline() const { return next_deadline_; }
  void expire(core::Micros now);

  [[nodiscard]] std::size_t size() const { return pending_.size(); }
  // Whether the node may still do something for a request of ours.
  [[nodiscard]] bool awaits_answers() const { return pending_.size() > unsent_; }

  // The connection is over: everything goes into `answers`, in order, and the pipeline is as new. `front` is
  // for the request that was being answered, if that is what broke it.
  void fail_all(core::Reply when_sent, core::Reply when_not, std::optional<core::Reply> front,
                const std::string& text, std::vector<Answer>& answers);
  void clear();

  // How this server is asked about itself, before anything is; clear() forgets it.
  void ask_by(redis::Sections sections) { sections_ = sections; }

  [[nodiscard]] core::RttEstimator& rtt() { return rtt_; }

 private:
  struct Vote {
    client::RequestTag tag;
    core::Reply reply;
    std::string text;
    bool timed_out = false;
  };

  void note_vote(core::Micros timeout_cap);
  void push_check();
  void finish_request(core::Micros now);
  void finish_check();
  void expire_votes();
  void finish_raw(core::Micros now);
  void send_again_by_text();
  [[nodiscard]] bool is_released_behind(const core::Request& request);
  bool& script_known(const core::Request& request);
  void sample(const Pending& answered, core::Micros now);
  void pop();

  redis::Encoder& encoder_;
  core::Micros min_timeout_;
  OnReply on_reply_;
  OnCheck on_check_;
  PendingRing pending_;
  std::size_t unsent_ = 0;     // of pending_, at its end
  std::size_t timed_out_ = 0;  // of pending_, at its beginning: need no look for deadlines
  std::string out_;
  std::array<bool, redis::kScriptKinds> known_{};  // scripts, to the server, by hash
  redis::Sections sections_ = redis::Sections::apart;
  std::optional<core::Micros> vote_cap_;    // votes wait to be written: the shortest of their timeouts
  std::vector<Vote> votes_;                 // answered, and waiting for the check behind them
  std::vector<Vote> counting_;              // the same while they are handed out
  std::vector<redis::Value> values_;        // of the front's answer
  std::vector<redis::Value> check_values_;  // the same, of a check
  redis::CheckMemory check_memory_;
  std::size_t have_ = 0;
  std::string problem_;
  std::optional<core::Micros> next_deadline_;
  core::Micros last_sampled_{0};
  core::RttEstimator rtt_;
};

}  // namespace redlock::uv
