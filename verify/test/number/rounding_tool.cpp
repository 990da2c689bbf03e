// Reads float32 words in hex, one a line; prints the code each rounds to in every small format, nearest even,
// saturating. For compare_formats.py.
#include <cstdint>
#include <cstdio>

#include "model/number/decode.h"
#include "model/number/encode.h"
#include "model/number/round.h"

using namespace bitwell::number;

int main() {
  unsigned bits = 0;
  while (std::scanf("%x", &bits) == 1) {
    const Exact v = decode(f32, bits);
    for (const Format* f : {&e2m1, &e2m3, &e3m2, &e4m3, &e5m2, &f16, &bf16}) {
      const bool lost = v.is_nan() && !f->has_nan();
      std::printf("%llx ", static_cast<unsigned long long>(
                               lost ? f->magnitude_mask()
                                    : encode(*f, round(*f, v, Rounding::nearest_even, Overflow::saturate))));
    }
    std::printf("\n");
  }
}
