// The proxy's language, a line a command: read whole and judged before anything changes.
//
//   [door N] delay up|down|both US [JITTER_US]     every byte comes so much later, in order
//   [door N] loss up|down|both PERCENT STALL_US    that share of the reads, and all behind them, stalls so
//   long [door N] throttle up|down|both BYTES_PER_S     0: no more [door N] hold up|down|both kept back until
//   healed, then delivered [door N] drop up|down|both                     gone; lines that lost bytes are
//   reset when healed [door N] truncate up|down|both BELOW           every line ends after a random number of
//   bytes below this [door N] refuse                                new connections are reset [door N] reset
//   those that stand are reset, once [door N] half-open                             the server's ends vanish,
//   the clients are not told [door N] heal                                  what `usual` said, and no faults
//   usual US JITTER_US                             the delay of each direction while nothing is wrong
//   move HOST:PORT                                 new connections go there
//   counters
//
// Doors are counted from 0; without a number all are meant. Every answer is one line of JSON.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/door.h"

namespace redlock::chaos {

struct Proxy {
  std::vector<std::unique_ptr<Door>> doors;
  std::array<Weather, 2> usual{};
  Counters counters;
};

// What is to be answered, without its line end.
std::string obey(Proxy& proxy, const std::string& line);

// IPv4 in numbers and a port: "127.0.0.1:6379". False: it is none.
bool read_address(const std::string& text, sockaddr_in& out);

}  // namespace redlock::chaos
