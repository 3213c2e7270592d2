// A file descriptor that closes itself. Every one that the program opens has CLOEXEC set, so that none of
// them reaches the command of `run`.
#pragma once

#include <unistd.h>

#include <utility>

namespace redlock::cli {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool valid() const { return number_ >= 0; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
};

// 0, 1 and 2 where they are closed are filled with something that fails to read or write, so that no socket
// can get one of these numbers and receive what was printed. The command finds them closed, as they were.
void occupy_standard_descriptors();

}  // namespace redlock::cli
