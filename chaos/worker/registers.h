// The two things that the sections protect, in a Redis server that no fault touches. Both remember per name
// who wrote last. The plain one takes every write; the fenced one refuses a fencing token that is outdated,
// when read as when written (redlock/fencing.h).
//
// Writing answers who had written before, in one step with the write, so that a judge needs no clock to see
// who overwrote whom. Each series has registers of its own, since the next one has workers of the same names.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::chaos {

struct RegisterAddress {
  std::string host;
  int port = 0;
  std::string space;  // the series
};

// One connection, for one thread; made anew when it broke.
class Registers {
 public:
  explicit Registers(RegisterAddress address) : address_(std::move(address)) {}

  enum class Outcome { done, refused, unreachable };
  struct Answer {
    Outcome outcome = Outcome::unreachable;
    std::string last;   // who had written last; empty: nobody
    std::string fault;  // unreachable: why, one line
  };
  Answer read(const std::string& name);
  Answer read_fenced(const std::string& name, std::uint64_t fence);
  Answer write(const std::string& name, const std::string& who);
  Answer write_fenced(const std::string& name, std::uint64_t fence, const std::string& who);

 private:
  [[nodiscard]] std::string key(const char* kind, const std::string& name) const;
  // The command behind the check of a fencing token.
  [[nodiscard]] std::vector<std::string> checked(const std::string& name, std::uint64_t fence,
                                                 const std::vector<std::string>& command) const;
  Answer ask(const std::vector<std::string>& words);
  bool connect(std::string& fault);

  struct Free {
    void operator()(redisContext* context) const { redisFree(context); }
  };
  RegisterAddress address_;
  std::unique_ptr<redisContext, Free> context_;
};

}  // namespace redlock::chaos
