// What a fuzzed function may end in.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bitwell::fuzz {

// Runs `f`, which may return or throw one of `Allowed`; any other exception leaves, and libFuzzer reports it.
template <class... Allowed, class F>
void outcome(F f) {
  struct Nothing {};
  const auto guarded = [&]<class First, class... Rest>(auto& self) -> void {
    try {
      if constexpr (sizeof...(Rest) == 0)
        f();
      else
        self.template operator()<Rest...>(self);
    } catch (const First&) {  // a refusal is an answer
    }
  };
  guarded.template operator()<Allowed..., Nothing>(guarded);
}

inline std::string text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// A law that the answers must keep.
inline void require(bool holds, std::string_view law) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %.*s\n", static_cast<int>(law.size()), law.data());
  std::abort();
}

}  // namespace bitwell::fuzz
