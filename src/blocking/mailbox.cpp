#include "blocking/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

namespace redlock::detail {

int Mailbox::open() {
  descriptor_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return descriptor_ < 0 ? errno : 0;
}

Mailbox::~Mailbox() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Mailbox::push(Command& command) noexcept {
  Command* head = newest_.load(std::memory_order_relaxed);
  do {
    if (head == &closed_mark_) return false;
    command.next = head;
  } while (
      !newest_.compare_exchange_weak(head, &command, std::memory_order_release, std::memory_order_relaxed));
  // From here on the command may be executed and gone. Whoever found the stack empty wakes the loop; the
  // others ride along, since the loop takes everything after it has seen that wake-up.
  if (head == nullptr) {
    const std::uint64_t one = 1;
    while (::write(descriptor_, &one, sizeof one) < 0 && errno == EINTR) {
    }
  }
  return true;
}

Command* Mailbox::take() noexcept {
  std::uint64_t count = 0;
  while (::read(descriptor_, &count, sizeof count) < 0 && errno == EINTR) {
  }
  // Only this thread closes it, so the check cannot be overtaken.
  if (newest_.load(std::memory_order_relaxed) == &closed_mark_) return nullptr;
  return take_and_leave(nullptr);
}

Command* Mailbox::close() noexcept {
  return take_and_leave(&closed_mark_);
}

Command* Mailbox::take_and_leave(Command* mark) noexcept {
  Command* newest = newest_.exchange(mark, std::memory_order_acquire);
  if (newest == &closed_mark_) return nullptr;
  Command* oldest = nullptr;
  while (newest != nullptr) {
    Command* const older = newest->next;
    newest->next = oldest;
    oldest = newest;
    newest = older;
  }
  return oldest;
}

}  // namespace redlock::detail
