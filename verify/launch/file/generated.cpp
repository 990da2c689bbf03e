#include "verify/launch/file/generated.h"

#include <cstring>
#include <random>

#include "verify/schema/choices.h"

namespace bitwell::launch {

// flatten: of the generator's functions the linker keeps one copy, perhaps that of a file made by -Og, which
// is slower.
[[gnu::flatten]] std::vector<std::byte> generated(std::string_view kind, uint64_t bytes, uint64_t seed) {
  std::vector<std::byte> out(bytes);
  std::mt19937_64 random(seed);
  const auto each = [&](auto value) {
    for (size_t i = 0; i + sizeof(value(i)) <= out.size(); i += sizeof(value(i))) {
      const auto v = value(i / sizeof(value(i)));
      std::memcpy(out.data() + i, &v, sizeof v);
    }
  };
  static_assert(schema::kGenerators.size() == 3);
  if (kind == schema::kGenerators[0])
    each([&](size_t) { return static_cast<uint8_t>(random()); });
  else if (kind == schema::kGenerators[1])
    each([&](size_t i) { return static_cast<uint32_t>(i); });
  else
    each([&](size_t) { return static_cast<float>(static_cast<int32_t>(random() >> 40)) * 0x1p-23f - 1.0f; });
  return out;
}

}  // namespace bitwell::launch
