// bench_redlock: times acquire and release for a measuring program that compares libraries and lower bounds
// in one run. It decides nothing itself; arguments.h says what goes in and out.
#include <csignal>

#include "arguments.h"
#include "loop_peer.h"

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const auto arguments = redlock::bench::parse_arguments(argc, argv);
  return arguments.peer == "redlock-blocking" ? redlock::bench::run_blocking_peer(arguments)
                                              : redlock::bench::run_loop_peer(arguments);
}
