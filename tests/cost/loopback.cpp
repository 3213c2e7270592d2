#include "cost/loopback.h"

#include <array>
#include <charconv>
#include <utility>

#include "cost/counters.h"
#include "redis/guard_wire.h"
#include "uv/uv_host.h"

namespace redlock::cost {
namespace {

constexpr core::Millis kMaxTtl{30000};
constexpr core::Micros kOffset{1'700'000'000'000'000};  // of the nodes' clocks
constexpr core::Micros kNodeTimeout{50000};

core::Mark mark_of(int node) {
  const auto id = static_cast<std::uint64_t>(node) + 1;
  return {{id, id}, {id + 100, id}, 0, {5, kMaxTtl, core::Deployment("cost")}};
}

client::ClientConfig configuration(int nodes, bool guarded) {
  client::ClientConfig config;
  // Too long for a string without memory of its own, as real ones are.
  for (int i = 0; i < nodes; ++i)
    config.node_labels.push_back("redis-" + std::to_string(i) + ".example.org:6379");
  config.prefix = "lock:";
  config.max_ttl = kMaxTtl;
  config.guard.on = guarded;
  config.guard.terms.deployment = core::Deployment("cost");
  return config;
}

std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

// What a Redis 7.0 says, line for line in its order, so that reading it costs what it costs.
std::string info(const std::string& replid) {
  std::string text =
      "# Stats\r\ntotal_connections_received:12\r\ntotal_commands_processed:1234567\r\n"
      "instantaneous_ops_per_sec:1234\r\ntotal_net_input_bytes:123456789\r\ntotal_net_output_bytes:"
      "123456789\r\n"
      "total_net_repl_input_bytes:0\r\ntotal_net_repl_output_bytes:0\r\ninstantaneous_input_kbps:12.34\r\n"
      "instantaneous_output_kbps:12.34\r\ninstantaneous_input_repl_kbps:0.00\r\n"
      "instantaneous_output_repl_kbps:0.00\r\nrejected_connections:0\r\nsync_full:0\r\nsync_partial_ok:0\r\n"
      "sync_partial_err:0\r\nexpired_keys:12\r\nexpired_stale_perc:0.00\r\nexpired_time_cap_reached_count:"
      "0\r\n"
      "expire_cycle_cpu_milliseconds:1234\r\nevicted_keys:0\r\nevicted_clients:0\r\n"
      "total_eviction_exceeded_time:0\r\ncurrent_eviction_exceeded_time:0\r\nkeyspace_hits:123456\r\n"
      "keyspace_misses:123456\r\npubsub_channels:0\r\npubsub_patterns:0\r\npubsubshard_channels:0\r\n"
      "latest_fork_usec:0\r\ntotal_forks:0\r\nmigrate_cached_sockets:0\r\nslave_expires_tracked_keys:0\r\n"
      "active_defrag_hits:0\r\nactive_defrag_misses:0\r\nactive_defrag_key_hits:0\r\n"
      "active_defrag_key_misses:0\r\ntotal_active_defrag_time:0\r\ncurrent_active_defrag_time:0\r\n"
      "tracking_total_keys:0\r\ntracking_total_items:0\r\ntracking_total_prefixes:0\r\n"
      "unexpected_error_replies:0\r\ntotal_error_replies:12\r\ndump_payload_sanitizations:0\r\n"
      "total_reads_processed:1234567\r\ntotal_writes_processed:1234567\r\nio_threaded_reads_processed:0\r\n"
      "io_threaded_writes_processed:0\r\nreply_buffer_shrinks:12\r\nreply_buffer_expands:0\r\n\r\n"
      "# Replication\r\nrole:master\r\nconnected_slaves:0\r\nmaster_failover_state:no-failover\r\n"
      "master_replid:";
  text += replid + "\r\nmaster_replid2:0000000000000000000000000000000000000000\r\nmaster_repl_offset:0\r\n" +
          "second_repl_offset:-1\r\nrepl_backlog_active:0\r\nrepl_backlog_size:1048576\r\n" +
          "repl_backlog_first_byte_offset:0\r\nrepl_backlog_histlen:0\r\n";
  return text;
}

std::string mark_answer(int node) {
  return "*2\r\n" + bulk(redis::format_mark(mark_of(node))) + "$-1\r\n";
}

// Of fixed width, so that another time can be written over it.
std::string time_answer(core::Micros time) {
  const std::string micros = std::to_string(time.count() % 1000000);
  return "*2\r\n" + bulk(std::to_string(time.count() / 1000000)) +
         bulk(std::string(6 - micros.size(), '0') + micros);
}

std::string info_answer(int node) {
  const std::string mark = redis::format_mark(mark_of(node));
  return bulk(info(mark.substr(mark.find(' ', mark.find(' ') + 1) + 1, 32) + "01234567"));
}

}  // namespace

Loopback::Loopback(int nodes, bool guarded) : guarded_(guarded), places_(static_cast<std::size_t>(nodes)) {
  client_ = std::make_unique<client::Client>(*this, configuration(nodes, guarded));
  for (int i = 0; i < nodes; ++i) {
    Place& place = places_[static_cast<std::size_t>(i)];
    const core::Node node = core::node_at(i);
    uv::Pipeline::OnCheck on_check;
    if (guarded) on_check = [this, node](const core::Reading& reading) { client_->on_check(node, reading); };
    place.pipeline = std::make_unique<uv::Pipeline>(
        encoder_, kNodeTimeout,
        [this, node](const client::RequestTag& tag, const core::Reply& reply, std::string_view text) {
          client_->on_reply(node, tag, reply, text);
        },
        std::move(on_check));
    place.mark = mark_answer(i);
    place.info = info_answer(i);
    place.pipeline->ask_by(redis::Sections::joined);
    client_->on_identified(node, mark_of(i).run_id);
    if (guarded) verify_now(node);
    client_->on_node_up(node);
  }
}

core::Instant Loopback::now() {
  return uv::read_clocks();
}

core::Micros Loopback::wall() {
  return kOffset + clock();
}

// Its answer is known when it is asked.
void Loopback::send(core::Node node, client::RequestTag tag, const core::Request& request,
                    std::string_view key, core::Micros timeout_cap) {
  Place& place = places_[static_cast<std::size_t>(core::index(node))];
  place.pipeline->push(tag, request, key, timeout_cap);
  place.answers += request.kind == core::RequestKind::acquire ? "+OK\r\n" : ":1\r\n";
  if (request.kind == core::RequestKind::acquire && request.fenced) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), request.fencing).ptr;
    (place.answers += ':').append(digits.data(), end) += "\r\n";
  }
  place.asked_for_votes = place.asked_for_votes || core::is_vote(request.kind);
}

void Loopback::verify_now(core::Node node) {
  const int i = core::index(node);
  const core::Instant sent = now();
  core::Verification found;
  found.run_id = mark_of(i).run_id;
  found.reading.sent = found.reading.received = sent;
  found.reading.node_time = kOffset + sent.boot;
  found.reading.master = true;
  found.reading.replid = mark_of(i).replid;
  found.reading.mark_state = core::MarkState::present;
  found.reading.mark = mark_of(i);
  client_->on_verified(node, &found);
}

void Loopback::flush(Place& place) {
  if (place.pipeline->out().empty()) return;
  place.pipeline->sent(clock());
  place.pipeline->out().clear();
  if (!guarded_ || !std::exchange(place.asked_for_votes, false)) return;
  if (time_at_ != clock()) {
    time_at_ = clock();
    time_ = time_answer(kOffset + time_at_);
  }
  (place.answers += place.mark).append(time_) += place.info;
}

void Loopback::run() {
  for (;;) {
    if (std::exchange(turn_end_, false)) client_->on_turn_end();
    bool busy = turn_end_;
    verifying_.swap(unverified_);
    for (const core::Node node : verifying_) verify_now(node);
    verifying_.clear();
    for (Place& place : places_) {
      flush(place);
      if (place.answers.empty()) continue;
      busy = true;
      place.decoder.feed(place.answers);
      place.answers.clear();
      while (place.decoder.next(place.pipeline->slot()) == redis::Decoder::Status::value)
        REDLOCK_ASSERT(place.pipeline->accept(clock()));
    }
    if (!busy && !turn_end_) return;
  }
}

void Loopback::pass(core::Micros time) {
  let_pass(time);
  if (!wake_ || !core::passed(*wake_, now())) return;
  wake_.reset();
  client_->on_wake();
  run();
}

}  // namespace redlock::cost
