// How other threads hand commands to the loop thread: a stack of nodes that live inside the callers' own
// objects, pushed with one compare-and-swap and taken whole. Nothing is allocated, so that a destructor can
// always post, and only the first command of a batch wakes the loop.
//
// The wake-up is an eventfd of our own on the loop, not a uv_async_t: a lease may outlive the loop, and
// uv_async_send on a closed loop aborts. Writing to this descriptor is harmless for as long as the mailbox
// lives.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace redlock::detail {

struct Call;
struct LeaseState;

struct Command {
  enum class Kind : std::uint8_t {
    acquire,    // call
    cancel,     // lease: the acquire that would have made it
    extend,     // call, lease
    release,    // lease; with call: somebody waits for the result
    detach,     // lease
    shut_down,  // ends the loop
  };
  Kind kind = Kind::acquire;
  Command* next = nullptr;
  Call* call = nullptr;               // on the stack of a thread that waits until it is answered
  std::shared_ptr<LeaseState> lease;  // keeps the lease, and a command inside it, alive while queued
};

class Mailbox {
 public:
  // Zero, or the error number of what failed. Must succeed before anything else is called.
  int open();
  Mailbox() = default;
  ~Mailbox();
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  // Any thread. False, and nothing done, once the mailbox is closed.
  bool push(Command& command) noexcept;
  // The loop's thread. Everything pushed so far, the oldest first, linked by `next`.
  Command* take() noexcept;
  // The same, and refuses all that comes later.
  Command* close() noexcept;
  // Becomes readable when there is something to take.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  Command* take_and_leave(Command* mark) noexcept;

  std::atomic<Command*> newest_{nullptr};
  Command closed_mark_;
  int descriptor_ = -1;
};

}  // namespace redlock::detail
