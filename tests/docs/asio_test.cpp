// The page's way to carry a client on Asio.
#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include "docs/carried.h"

namespace redlock::test {
namespace {

#include "Asio.inc"

class AsyncOnAsio : public FiveMasters {};

TEST_F(AsyncOnAsio, IsCarriedAsThePageSays) {
  Carried carried(options());
  {
    asio::io_context io;
    Carrier carrier(io, carried.loop());
    carrier.turn();
    io.run();
  }
  carried.expect_all_went_well();
}

}  // namespace
}  // namespace redlock::test
