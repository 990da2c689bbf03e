// What families of instructions keep of a CTA from one operation to the next. The engine holds it, and names
// none of them: each has a type of its own.
#pragma once
#include <memory>
#include <utility>
#include <vector>

namespace bitwell::run {

class FamilyStates {
 public:
  // nullptr: nobody has made one.
  template <class T>
  T* find() const {
    for (const auto& [type, kept] : all_)
      if (type == &kType<T>) return static_cast<T*>(kept.get());
    return nullptr;
  }
  // Made of these where there is none.
  template <class T, class... From>
  T& get(From&&... from) {
    if (T* const there = find<T>()) return *there;
    const auto made = std::make_shared<T>(std::forward<From>(from)...);
    all_.emplace_back(&kType<T>, made);
    return *made;
  }

 private:
  template <class T>
  static constexpr char kType = 0;  // whose address says which type
  std::vector<std::pair<const char*, std::shared_ptr<void>>> all_;
};

}  // namespace bitwell::run
