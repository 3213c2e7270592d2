// The command line of chaos_worker. Wrong words end the process with 64 and one line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "locks.h"
#include "registers.h"
#include "section.h"

namespace redlock::chaos {

struct Arguments {
  std::string id;
  ClientOptions client;
  std::string events;   // file; not used in line mode
  std::string adapter;  // command; empty: the library
  bool async = false;   // its AsyncClient instead of its LockManager
  bool line = false;    // speak the line protocol instead of running sections
  int threads = 8;
  Workload workload;
  std::optional<RegisterAddress> registers;
};

Arguments parse_arguments(int argc, char** argv);

}  // namespace redlock::chaos
