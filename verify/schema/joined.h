// Lists of keys put together.
#pragma once
#include <array>
#include <cstddef>

#include "verify/schema/key.h"

namespace bitwell::schema {

template <class... Lists>
constexpr auto joined(const Lists&... lists) {
  std::array<Key, (std::tuple_size_v<Lists> + ...)> out{};
  size_t n = 0;
  const auto add = [&](const auto& list) {
    for (const Key& key : list) out[n++] = key;
  };
  (add(lists), ...);
  return out;
}

}  // namespace bitwell::schema
