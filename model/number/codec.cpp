#include "model/number/codec.h"

#include "model/number/simd_level.h"

namespace bitwell::number {

namespace scalar {
Codec make_codec();
}
namespace avx2 {
Codec make_codec();
}
namespace avx512 {
Codec make_codec();
}

Codec codec(std::string_view level) {
  if (!has_level(level)) return {};
  if (level == "avx512") return avx512::make_codec();
  return level == "avx2" ? avx2::make_codec() : scalar::make_codec();
}

namespace {

const Codec& best() {
  static const Codec c = [] {
    for (const std::string_view level : {"avx512", "avx2"})
      if (const Codec found = codec(level); found.decode_e2m1 != nullptr) return found;
    return codec("scalar");
  }();
  return c;
}

}  // namespace

void decode_e4m3_to_f16(std::span<const uint8_t> codes, std::span<uint16_t> out) {
  best().decode_e4m3(codes.data(), out.data(), codes.size());
}
void encode_e4m3(std::span<const float> values, std::span<uint8_t> codes) {
  best().encode_e4m3(values.data(), codes.data(), codes.size());
}

}  // namespace bitwell::number
