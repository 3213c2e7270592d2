// From the name of a master to its address: asks the Sentinels, within a time limit. They are asked in order,
// and whoever knew the answer is asked first the next time. One that says nothing keeps the next one waiting
// for its share of the time only, and may still answer after it; so a dead machine at the head of the list
// costs a fraction of the limit and not all of it.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/time.h"
#include "redlock/error.h"
#include "redlock/node_url.h"
#include "uv/dialer.h"
#include "uv/shared.h"

namespace redlock::uv {

struct Resolved {
  std::optional<NodeUrl::Endpoint> master;
  Cause cause = Cause::none;  // of failure
  std::string error;          // what each Sentinel said, for people
};

class Resolver {
 public:
  using Done = std::function<void(Resolved)>;

  // `moved`: deadline() may be earlier than it was.
  Resolver(Shared& shared, const NodeUrl& url, std::function<void()> moved);
  ~Resolver();
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // `done` runs once unless cancelled; it may run before this returns. The owner calls expire() at
  // deadline().
  void ask(core::Micros limit, Done done);
  [[nodiscard]] core::Micros deadline() const;
  void expire(core::Micros now);
  void cancel();
  [[nodiscard]] bool is_asking() const { return static_cast<bool>(done_); }

 private:
  struct Call;

  void begin_next();
  void on_dialed(Call& call, Dialed dialed);
  void say(Call& call);
  void on_bytes(Call& call, std::string_view bytes);
  void on_ended(Call& call, int status);
  void on_found(Call& call);
  void fail(Call& call, Cause cause, std::string why);
  void give_up();
  void finish(Resolved resolved);

  Shared& shared_;
  std::function<void()> moved_;
  const bool tls_;
  std::vector<std::unique_ptr<Call>> calls_;  // the next time in this order
  std::size_t begun_ = 0;                     // of calls_, from the front
  Done done_;                                 // empty: not asking
  core::Micros limit_{0};
  core::Micros share_{0};
  core::Micros next_at_{0};  // the next one begins then, if nobody has answered
};

}  // namespace redlock::uv
