// Draws a seed's mixture. The ranges are wide on purpose; each one's reason is beside it.
#include "sim/swarm.h"

#include <sstream>

#include "sim/random.h"

namespace redlock::sim {

using namespace std::chrono_literals;
using core::Micros;
using core::Millis;

namespace {

Micros sometimes(Dice& dice, Micros low, Micros high) {
  return dice.coin() ? dice.between(low, high) : Micros{0};
}

void draw_network(Dice& dice, Swarm& s) {
  // From a loopback to a bad wide-area line: longer than the node timeout's floor of 50 ms.
  const Micros delays[] = {100us, 500us, 2ms, 10ms, 40ms, 150ms};
  s.delay_most = dice.pick(delays);
  s.delay_min = dice.between(Micros{10}, s.delay_most / 2 + 10us);
  s.reconnect_most = dice.between(Micros{1ms}, 500ms);
  s.notice_most = dice.coin() ? Micros{1ms} : dice.between(Micros{1ms}, 3s);
  s.late_most = sometimes(dice, 1ms, 2s);
  s.kill_leftovers = dice.coin();
  s.refused_fails_fast = dice.coin();
  s.connect_timeout = Millis{dice.between(100, 1000)};
  s.backlog = dice.chance(150000) ? static_cast<int>(dice.between(1, 4)) : 1000;
}

void draw_faults(Dice& dice, Swarm& s) {
  if (dice.chance(150000)) return;  // a quiet run shows what ordinary contention does
  s.cut_every = sometimes(dice, 50ms, 3s);
  s.partition_every = sometimes(dice, 200ms, 4s);
  s.crash_every = sometimes(dice, 200ms, 4s);
  s.stall_every = sometimes(dice, 200ms, 4s);
  s.pause_every = sometimes(dice, 100ms, 3s);
  s.death_every = dice.chance(300000) ? dice.between(Micros{500ms}, 5s) : 0us;
  const Micros outages[] = {50ms, 300ms, 1s, 4s};
  s.outage_most = dice.pick(outages);
  s.refusal_per_million = dice.chance(250000) ? static_cast<std::uint32_t>(dice.between(1000, 200000)) : 0;
  s.preempt_per_million = dice.coin() ? static_cast<std::uint32_t>(dice.between(100, 30000)) : 0;
  s.preempt_most = dice.between(Micros{1ms}, 500ms);
}

void draw_clocks(Dice& dice, Swarm& s) {
  // The protocol allows a hundredth between holder and node; half of it on each side is the worst case.
  constexpr std::int64_t kMost = 4950;
  switch (dice.below(4)) {
    case 0:
      break;
    case 1:  // slow holders, fast nodes: keys end early in the holder's eyes
      s.client_ppm_low = s.client_ppm_high = -kMost;
      s.node_ppm_low = s.node_ppm_high = kMost;
      break;
    default:
      s.client_ppm_low = s.node_ppm_low = -kMost;
      s.client_ppm_high = s.node_ppm_high = kMost;
  }
}

// Clocks that run away slowly, on a line so long and steady that neighbouring samples never show it, and
// leases so long that what runs away in one of them is more than the drift that is allowed for.
void draw_creep(Dice& dice, Swarm& s) {
  s = Swarm();
  s.nodes = 3;
  s.processes = s.actors = 2;
  s.faults_stop = 16s;
  s.delay_min = 9ms;
  s.delay_most = 10ms;
  s.reconnect_most = s.notice_most = 1ms;
  s.backlog = 1000;
  s.ttl_low = s.ttl_high = s.max_ttl = 10s;
  s.watchdog_per_million = s.try_per_million = 0;
  s.expire_per_million = 1000000;
  s.think_most = 20ms;
  s.hold_most = 1ms;
  s.guard = true;
  s.creep_ppm = dice.between(14000, 16000);
}

// A guard takes clocks that differ by more than one in a thousand for wrong ones.
void draw_guard(Dice& dice, Swarm& s) {
  s.guard = dice.chance(750000);
  if (!s.guard) return;
  if (dice.chance(20000)) {
    s.fenced_per_million = 0;
    return draw_creep(dice, s);
  }
  s.initialised = dice.chance(800000);
  s.max_ttl = dice.coin() ? s.ttl_high : s.ttl_high + Millis{dice.between(0, 2000)};
  // What clocks drift apart in one run is more than fencing tolerates of a shorter one.
  if (s.max_ttl < 1s) s.fenced_per_million = 0;
  s.grace = dice.chance(800000) ? Millis{0} : Millis{dice.between(1, 500)};
  s.faults_stop += std::min(Micros{s.max_ttl} * 2, 4000000us);
  constexpr std::int64_t kMost = 450;
  for (auto* ppm : {&s.client_ppm_low, &s.client_ppm_high, &s.node_ppm_low, &s.node_ppm_high})
    *ppm = std::clamp(*ppm, -kMost, kMost);
  const auto rarely = [&](std::uint32_t chance, Micros low, Micros high) {
    return dice.chance(chance) ? dice.between(low, high) : 0us;
  };
  s.save_every = dice.between(Micros{50ms}, 3s);
  s.timer_lost_per_million = dice.chance(150000) ? static_cast<std::uint32_t>(dice.between(1000, 50000)) : 0;
  s.timer_lost_most = s.timer_lost_per_million > 0 ? 2s : 0us;
  s.slow_every = rarely(200000, 300ms, 4s);
  s.split_per_million = dice.coin() ? static_cast<std::uint32_t>(dice.between(10000, 500000)) : 0;
  s.attach_every = rarely(200000, 100ms, 4s);
  if (dice.chance(100000)) return;
  // Where a node forgot, the order of fencing tokens leans on the nodes' clocks.
  s.nodes_in_step = s.nodes_in_step || s.fenced_per_million > 0;
  s.forget_every = rarely(500000, 200ms, 4s);
  s.power_every = rarely(250000, 500ms, 5s);
  s.demote_every = rarely(300000, 200ms, 4s);
  s.evict_every = rarely(250000, 200ms, 3s);
  s.step_every = rarely(350000, 100ms, 4s);
  s.slew_every = rarely(250000, 100ms, 2s);
  s.freeze_every = rarely(250000, 300ms, 5s);
}

void draw_callers(Dice& dice, Swarm& s) {
  const Millis ttls[] = {60ms, 200ms, 1s, 3s, 10s};
  s.ttl_high = dice.pick(ttls);
  s.ttl_low = dice.coin() ? s.ttl_high : Millis{dice.between(20, s.ttl_high.count())};
  const std::uint32_t shares[] = {0, 100000, 500000, 900000, 1000000};
  s.watchdog_per_million = dice.pick(shares);
  s.try_per_million = dice.pick(shares);
  s.expire_per_million = dice.coin() ? 0 : static_cast<std::uint32_t>(dice.between(50000, 800000));
  s.detach_per_million = dice.chance(200000) ? 100000 : 0;
  s.cancel_per_million = dice.coin() ? 0 : static_cast<std::uint32_t>(dice.between(50000, 500000));
  s.max_hold_per_million = dice.chance(300000) ? 300000 : 0;
  if (dice.coin()) {
    s.fenced_per_million = dice.coin() ? 1000000 : 300000;
    // Of an even number apart by more than max_ttl, no majority can ever have the same value.
    s.nodes_in_step = s.nodes % 2 == 0 || dice.chance(700000);
  }
  const Micros thinks[] = {1ms, 20ms, 300ms, 1s};
  s.think_most = dice.pick(thinks);
  s.hold_most =
      dice.coin() ? dice.between(Micros{1ms}, Micros{s.ttl_high} * 2) : dice.between(Micros{100us}, 50ms);
}

// Dice of its own: the rest of a seed is as it would be without.
void draw_line(Dice dice, Swarm& s) {
  s.line = dice.chance(600000);
  if (!s.line || s.creep_ppm != 0) return;
  const std::uint32_t shares[] = {0, 0, 300000};
  s.line_off_per_million = dice.pick(shares);
  const Micros subscribe[] = {1ms, 50ms, 2s};
  s.subscribe_most = dice.pick(subscribe);
  const Micros late[] = {0us, 0us, 1ms, 50ms, 1s};
  s.notice_late_most = dice.pick(late);
  s.notice_twice_per_million = dice.chance(300000) ? 200000 : 0;
  s.hush_every = sometimes(dice, 100ms, 3s);
  if (dice.chance(60000)) {
    s.crowd = static_cast<int>(dice.between(12, 30));
  } else if (dice.chance(200000)) {
    s.crowd = static_cast<int>(dice.between(2, 8));
  }
  const Micros holds[] = {100us, 2ms, 20ms};
  s.crowd_hold = dice.pick(holds);
}

}  // namespace

Swarm Swarm::draw(std::uint64_t seed) {
  Dice dice(seed ^ 0x5EED0F5A11ULL);
  Swarm s;
  const int sizes[] = {3, 3, 3, 5, 5, 1, 2, 4, 7};
  s.nodes = dice.pick(sizes);
  s.processes = static_cast<int>(dice.between(1, 4));
  s.actors = static_cast<int>(dice.between(1, 3));
  s.names = dice.coin() ? 1 : static_cast<int>(dice.between(1, 4));
  s.faults_stop = dice.between(Micros{1s}, 8s);
  s.timer_late_most = dice.coin() ? 0us : dice.between(Micros{1us}, 3ms);
  draw_network(dice, s);
  draw_faults(dice, s);
  draw_clocks(dice, s);
  draw_callers(dice, s);
  draw_guard(dice, s);
  draw_line(Dice(seed ^ 0x11E0F3A17E85ULL), s);
  return s;
}

std::string Swarm::describe() const {
  std::ostringstream out;
  const auto us = [](Micros d) { return d.count(); };
  out << "nodes=" << nodes << " processes=" << processes << " actors=" << actors << " names=" << names
      << " faults_stop_us=" << us(faults_stop) << " delay_us=" << us(delay_min) << ".." << us(delay_most)
      << " reconnect_us=" << us(reconnect_most) << " notice_us=" << us(notice_most)
      << " late_us=" << us(late_most) << " kill_leftovers=" << kill_leftovers
      << " refused_fails_fast=" << refused_fails_fast << " connect_timeout_ms=" << connect_timeout.count()
      << " backlog=" << backlog << " cut_us=" << us(cut_every) << " partition_us=" << us(partition_every)
      << " crash_us=" << us(crash_every) << " stall_us=" << us(stall_every) << " pause_us=" << us(pause_every)
      << " death_us=" << us(death_every) << " outage_us=" << us(outage_most)
      << " refusal_ppm=" << refusal_per_million << " preempt_ppm=" << preempt_per_million
      << " preempt_us=" << us(preempt_most) << " timer_late_us=" << us(timer_late_most)
      << " client_ppm=" << client_ppm_low << ".." << client_ppm_high << " node_ppm=" << node_ppm_low << ".."
      << node_ppm_high << " ttl_ms=" << ttl_low.count() << ".." << ttl_high.count()
      << " watchdog_ppm=" << watchdog_per_million << " try_ppm=" << try_per_million
      << " expire_ppm=" << expire_per_million << " detach_ppm=" << detach_per_million
      << " cancel_ppm=" << cancel_per_million << " max_hold_ppm=" << max_hold_per_million
      << " fenced_ppm=" << fenced_per_million << " nodes_in_step=" << nodes_in_step
      << " think_us=" << us(think_most) << " hold_us=" << us(hold_most) << " guard=" << guard
      << " initialised=" << initialised << " max_ttl_ms=" << max_ttl.count() << " grace_ms=" << grace.count()
      << " save_us=" << us(save_every) << " forget_us=" << us(forget_every) << " power_us=" << us(power_every)
      << " demote_us=" << us(demote_every) << " attach_us=" << us(attach_every)
      << " evict_us=" << us(evict_every) << " step_us=" << us(step_every) << " slew_us=" << us(slew_every)
      << " slow_us=" << us(slow_every) << " freeze_us=" << us(freeze_every) << " creep_ppm=" << creep_ppm
      << " split_ppm=" << split_per_million << " timer_lost_ppm=" << timer_lost_per_million
      << " timer_lost_us=" << us(timer_lost_most) << " line=" << line
      << " line_off_ppm=" << line_off_per_million << " subscribe_us=" << us(subscribe_most)
      << " notice_late_us=" << us(notice_late_most) << " notice_twice_ppm=" << notice_twice_per_million
      << " hush_us=" << us(hush_every) << " crowd=" << crowd << " crowd_hold_us=" << us(crowd_hold);
  return out.str();
}

}  // namespace redlock::sim
