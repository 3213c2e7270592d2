// The requests of one connection that wait for their answers, oldest first: a ring whose slots are used
// again, with the memory of their keys, so that a busy connection allocates nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/host.h"
#include "core/request.h"
#include "core/time.h"
#include "uv/uv_host.h"

namespace redlock::uv {

struct RawCall {
  RawAnswer answer;
  std::function<void(RawAnswer)> done;  // empty once it was answered
};

struct Pending {
  enum class Kind : std::uint8_t {
    request,
    check,  // of the guard, behind the votes of a write; their answers wait for it
    raw,    // for administration
    silent  // our own; nobody waits for the answer
  };

  Kind kind = Kind::request;
  bool by_text = false;
  bool timed_out = false;
  int replies = 1;
  client::RequestTag tag{};
  core::Request request{};
  core::Micros sent{0};  // transport clock; 0: not yet
  core::Micros timeout{0};
  core::Instant asked;  // of a check: before the write
  std::string key;      // of requests that may have to be sent again by text
  std::unique_ptr<RawCall> raw;

  [[nodiscard]] core::Micros deadline() const { return sent + timeout; }
};

class PendingRing {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  Pending& operator[](std::size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  Pending& front() { return (*this)[0]; }

  // The new last one; what stands in it is of no meaning but for the memory of its key.
  Pending& push_back() {
    if (size_ == slots_.size()) grow();
    return (*this)[size_++];
  }
  void pop_front() {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }
  // Gives the memory back, too.
  void clear() {
    slots_.clear();
    head_ = size_ = 0;
  }

 private:
  static constexpr std::size_t kFirstSlots = 16;  // powers of two, for the mask

  void grow() {
    std::vector<Pending> slots(slots_.empty() ? kFirstSlots : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) slots[i] = std::move((*this)[i]);
    slots_.swap(slots);
    head_ = 0;
  }

  std::vector<Pending> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace redlock::uv
