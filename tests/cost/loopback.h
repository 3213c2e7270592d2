// A host whose nodes are in memory and always say yes: the client, the pipelines and the codec are the real
// ones, and between them is nothing but two strings per node. What it costs beyond those is next to nothing,
// so that what is counted on it is the library's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/client.h"
#include "client/host.h"
#include "redis/codec.h"
#include "uv/pipeline.h"

namespace redlock::cost {

class Loopback final : public client::Host {
 public:
  Loopback(int nodes, bool guarded);

  [[nodiscard]] client::Client& client() { return *client_; }
  // Turns until nothing is left to say.
  void run();
  // Moves the clocks, and wakes the client if it wants that.
  void pass(core::Micros time);

  [[nodiscard]] core::Instant now() override;
  [[nodiscard]] core::Micros wall() override;
  void send(core::Node node, client::RequestTag tag, const core::Request& request, std::string_view key,
            core::Micros timeout_cap) override;
  void verify(core::Node node) override { unverified_.push_back(node); }
  void mend(core::Node, const core::GuardOrder&) override {}
  void trim(core::Node, std::string_view, core::Millis) override {}
  void wake_at(std::optional<core::Instant> at) override { wake_ = at; }
  void listen(core::Waiter, bool) override {}
  void wake_at_turn_end() override { turn_end_ = true; }
  [[nodiscard]] client::Random random() override { return {{1, ++tokens_}, 0}; }

 private:
  struct Place {
    std::unique_ptr<uv::Pipeline> pipeline;
    redis::Decoder decoder;
    std::string answers;
    bool asked_for_votes = false;
    std::string mark, info;  // what it answers to a check, but for the time
  };

  void verify_now(core::Node node);
  void flush(Place& place);

  bool guarded_;
  std::string time_;  // what every node answers, for as long as the clocks stand still
  core::Micros time_at_{0};
  redis::Encoder encoder_;
  std::vector<Place> places_;
  std::unique_ptr<client::Client> client_;
  std::vector<core::Node> unverified_, verifying_;
  std::optional<core::Instant> wake_;
  bool turn_end_ = false;
  std::uint64_t tokens_ = 0;
};

}  // namespace redlock::cost
