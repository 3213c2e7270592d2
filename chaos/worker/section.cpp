// The life of a section. Every event stands on the side of caution that the judge needs: a claim begins when
// its grant is on file and the section has not begun to work, and ends before release is called.
#include "section.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

namespace redlock::chaos {
namespace {

using std::chrono::microseconds;

// A crash that was asked for; the harness tells it from one that was not.
constexpr int kCrashed = 42;
constexpr int kAdapterGone = 70;
// The library tells validity in whole milliseconds, so the same end reads up to one apart.
constexpr Us kSameEnd = 1500;

Us us(milliseconds span) {
  return microseconds(span).count();
}

void sleep_us(Us span) {
  if (span > 0) std::this_thread::sleep_for(microseconds(span));
}

}  // namespace

Chooser::Chooser(const Workload& workload, std::string thread, std::uint64_t salt)
    : workload_(workload),
      own_name_("own-" + std::move(thread)),
      random_(workload.seed * 0x9E3779B97F4A7C15U + salt) {}

bool Chooser::chance(double percent) {
  return std::uniform_real_distribution<double>(0, 100)(random_) < percent;
}

Us Chooser::between(Us low, Us high) {
  return std::uniform_int_distribution<Us>(low, std::max(low, high))(random_);
}

Plan Chooser::next() {
  Plan plan;
  const Us ttl = us(workload_.ttl);
  const Us hold_max = us(workload_.hold_max);
  plan.wait = milliseconds{between(us(workload_.wait_max) / 5, us(workload_.wait_max)) / 1000};
  if (chance(workload_.own_percent)) {
    plan.name = own_name_;
    plan.hold = between(0, hold_max / 20);
    return plan;
  }
  const auto last = static_cast<Us>(workload_.names.size()) - 1;
  plan.name = workload_.names[static_cast<std::size_t>(between(0, last))];
  if (chance(10)) plan.wait = milliseconds{0};
  plan.careless = chance(workload_.careless_percent);
  plan.crash = chance(workload_.crash_percent);
  plan.drop = chance(3);
  if (chance(workload_.long_percent)) {
    // The watchdog works from ttl/3 on; it outlives ttl only if it works well; and an end that nobody
    // prevents has to come in time.
    const Us kind = between(0, 3);
    plan.watchdog = kind != 0;
    plan.hold = kind == 0 ? 2 * ttl : kind == 1 ? between(ttl, ttl * 3 / 2) : between(ttl / 3, ttl);
  } else {
    plan.hold = chance(30) ? between(0, hold_max) : between(0, hold_max / 20);
    plan.extend_by_hand = chance(3);
  }
  return plan;
}

milliseconds Chooser::pause() {
  return milliseconds{between(1, 10)};
}

struct Worker::Section {
  Who who;
  std::unique_ptr<Held> held;
  Us promised = 0;
  std::string plain;  // what the registers held when it began
  std::string fenced;
  bool has_read = false;
};

Worker::Worker(Locks& locks, EventLog& log, const Workload& workload,
               std::optional<RegisterAddress> registers, std::string thread, std::uint64_t salt,
               std::atomic<std::uint64_t>& ids)
    : locks_(locks),
      log_(log),
      workload_(workload),
      thread_(std::move(thread)),
      chooser_(workload, thread_, salt),
      ids_(ids) {
  if (registers) registers_.emplace(std::move(*registers));
}

void Worker::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) section(chooser_.next(), stop);
}

void Worker::section(const Plan& plan, const std::stop_token& stop) {
  Section section;
  section.who = {thread_, ids_.fetch_add(1) + 1, plan.name};
  Wanted wanted;
  wanted.name = plan.name;
  wanted.ttl = workload_.ttl;
  wanted.wait = plan.wait;
  wanted.watchdog = plan.watchdog;
  wanted.fencing = workload_.fencing;
  wanted.stop = stop;
  log_.waiting(section.who, us(workload_.ttl));
  auto held = locks_.acquire(wanted);
  if (!held) {
    log_.failed(section.who, held.error());
    if (held.error() == kAdapterEnded) {
      std::fprintf(stderr, "chaos_worker: the adapter ended\n");
      log_.dying();
      std::_Exit(kAdapterGone);
    }
    if (!stop.stop_requested()) std::this_thread::sleep_for(chooser_.pause());
    return;
  }
  section.held = std::move(*held);
  section.promised = section.held->until().value_or(monotonic_us());
  log_.granted(section.who, section.held->token(), section.promised, section.held->fence());
  section.held->watch([this, who = section.who] { log_.lost(who); });

  read(section);
  hold(section, plan);
  if (plan.careless || section.held->until()) write(section);
  end(section, plan);
}

// A section that works on believes in its lease: it looks again and again, and notes what it was told.
void Worker::hold(Section& section, const Plan& plan) {
  const Us ttl = us(workload_.ttl);
  const Us began = monotonic_us();
  const Us until = began + plan.hold;
  const Us slice = std::clamp<Us>(ttl / 50, 1000, 20000);
  const bool by_hand_for_want_of_a_watchdog = plan.watchdog && !locks_.has_watchdog();
  bool extension_due = plan.extend_by_hand && locks_.can_extend();
  for (Us now = began; now < until; now = monotonic_us()) {
    sleep_us(std::min(slice, until - now));
    note_extension(section);
    const auto end = section.held->until();
    if (!end) return;
    const bool late =
        by_hand_for_want_of_a_watchdog && locks_.can_extend() && *end - monotonic_us() < ttl * 2 / 3;
    if (late || (extension_due && monotonic_us() - began >= plan.hold / 2)) {
      extension_due = false;
      section.held->extend();
      note_extension(section);
    }
  }
}

void Worker::note_extension(Section& section) {
  const auto end = section.held->until();
  if (!end || *end <= section.promised + kSameEnd) return;
  section.promised = *end;
  log_.extended(section.who, *end);
}

void Worker::read(Section& section) {
  if (!registers_) return;
  const auto plain = registers_->read(section.who.name);
  section.plain = plain.last;
  section.has_read = plain.outcome == Registers::Outcome::done;
  if (const auto fence = section.held->fence())
    section.fenced = registers_->read_fenced(section.who.name, *fence).last;
}

void Worker::write(Section& section) {
  if (!registers_ || !section.has_read) return;
  const std::string me = section.who.thread + ":" + std::to_string(section.who.id);
  const auto plain = registers_->write(section.who.name, me);
  if (plain.outcome == Registers::Outcome::done) {
    log_.wrote(section.who, "plain", true, plain.last, section.plain);
  } else {
    std::fprintf(stderr, "chaos_worker: the register does not answer: %s\n", plain.fault.c_str());
  }
  const auto fence = section.held->fence();
  if (!fence) return;
  const auto fenced = registers_->write_fenced(section.who.name, *fence, me);
  if (fenced.outcome == Registers::Outcome::unreachable) return;
  log_.wrote(section.who, "fenced", fenced.outcome == Registers::Outcome::done, fenced.last, section.fenced);
}

void Worker::end(Section& section, const Plan& plan) {
  if (plan.crash) {
    log_.dying();
    std::_Exit(kCrashed);
  }
  log_.releasing(section.who);
  std::string result = "unknown";
  if (plan.drop) {
    section.held.reset();
  } else {
    result = section.held->release();
  }
  log_.released(section.who, result);
}

}  // namespace redlock::chaos
