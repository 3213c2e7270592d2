// A value that is seldom there, in memory of its own: copied, compared and hashed as if it stood in place.
// What holds it stays small for all those who never need it.
#pragma once

#include <memory>
#include <utility>

namespace redlock::core {

template <class T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT(google-explicit-constructor)
  Boxed(const Boxed& other) : value_(other ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&&) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this == &other) return *this;
    if (value_ && other) {
      *value_ = *other;
    } else {
      value_ = other ? std::make_unique<T>(*other) : nullptr;
    }
    return *this;
  }
  Boxed& operator=(Boxed&&) noexcept = default;
  ~Boxed() = default;

  explicit operator bool() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  void reset() { value_.reset(); }

  friend bool operator==(const Boxed& a, const Boxed& b) {
    if (!a || !b) return !a && !b;
    return *a == *b;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace redlock::core
