// chaos_worker: one process of the workload. Many threads take leases on a few names, work under them, and
// everything they were told is in the events file (event_log.h), for chaos_judge.
#include <atomic>
#include <cstdio>
#include <functional>
#include <iostream>
#include <thread>
#include <utility>

#include "arguments.h"
#include "event_log.h"
#include "line_protocol.h"
#include "section.h"

namespace {

using namespace redlock::chaos;

int fail(int code, const std::string& why) {
  std::fprintf(stderr, "chaos_worker: %s\n", why.c_str());
  return code;
}

int work(const Arguments& arguments, Locks& locks) {
  if (arguments.registers) {
    const auto answer = Registers(*arguments.registers).read("");
    if (answer.outcome != Registers::Outcome::done)
      return fail(69, "the register at " + arguments.registers->host + ":" +
                          std::to_string(arguments.registers->port) + " does not answer: " + answer.fault);
  }
  auto log = EventLog::create(arguments.events, arguments.id);
  if (!log) return fail(73, log.error());
  Workload workload = arguments.workload;
  workload.fencing = workload.fencing && locks.can_fence();
  (*log)->introduce({locks.client(), arguments.client.guard.enabled && arguments.adapter.empty(),
                     workload.fencing, arguments.threads, static_cast<int>(arguments.client.nodes.size()),
                     std::chrono::microseconds(workload.ttl).count()});
  std::atomic<std::uint64_t> ids = 0;
  std::vector<std::jthread> threads;
  const std::uint64_t salt = std::hash<std::string>{}(arguments.id);
  for (int i = 1; i <= arguments.threads; ++i) {
    threads.emplace_back([&, i](const std::stop_token& stop) {
      Worker(locks, **log, workload, arguments.registers, arguments.id + "." + std::to_string(i),
             salt + static_cast<std::uint64_t>(i), ids)
          .run(stop);
    });
  }
  for (std::string line; std::getline(std::cin, line) && line != "finish";) {
    std::fprintf(stderr, "chaos_worker: \"%s\" is no command; there is: finish\n", line.c_str());
  }
  for (auto& thread : threads) thread.request_stop();
  threads.clear();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse_arguments(argc, argv);
  auto locks = !arguments.adapter.empty() ? adapter_locks(arguments.adapter, arguments.client.nodes)
               : arguments.async          ? async_locks(arguments.client)
                                          : library_locks(arguments.client);
  if (!locks) return fail(arguments.adapter.empty() ? 64 : 69, locks.error());
  if (arguments.line) {
    serve_lines(**locks, arguments.workload.fencing);
    return 0;
  }
  return work(arguments, **locks);
}
