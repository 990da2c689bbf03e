// What several hold, and that goes with the last of them: std::shared_ptr of one host thread. That one counts
// by locked instructions wherever a process has a second thread, and `bitwell run` always has one, which
// watches its memory.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace bitwell::hazard {

template <class T>
struct WithCount {
  T value;
  uint32_t holders = 1;
};

template <class T>
class Counted {
 public:
  Counted() = default;
  Counted(std::nullptr_t) {}
  Counted(const Counted& other) : held_(other.held_) {
    if (held_ != nullptr) ++held_->holders;
  }
  Counted(Counted&& other) noexcept : held_(std::exchange(other.held_, nullptr)) {}
  // Who may change it gives it to those who may not.
  template <class Changing>
  requires std::same_as<T, const Changing> Counted(Counted<Changing> other)
      : held_(std::exchange(other.held_, nullptr)) {}
  Counted& operator=(Counted other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  [[gnu::always_inline]] ~Counted() {
    if (held_ != nullptr && --held_->holders == 0) end();
  }

  T* get() const { return held_ == nullptr ? nullptr : &held_->value; }
  T& operator*() const { return held_->value; }
  T* operator->() const { return &held_->value; }
  bool operator==(const Counted&) const = default;
  bool operator==(std::nullptr_t) const { return held_ == nullptr; }

 private:
  // Not in each place where one goes: what it held may hold much.
  [[gnu::noinline]] void end() { delete held_; }
  template <class>
  friend class Counted;
  template <class Of, class... Parts>
  friend Counted<Of> counted(Parts&&... parts);
  WithCount<std::remove_const_t<T>>* held_ = nullptr;
};

// A new one, made of those.
template <class T, class... Parts>
Counted<T> counted(Parts&&... parts) {
  Counted<T> out;
  using Value = std::remove_const_t<T>;
  out.held_ = new WithCount<Value>{Value(std::forward<Parts>(parts)...)};
  return out;
}

}  // namespace bitwell::hazard
