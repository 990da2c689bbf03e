#define XXH_INLINE_ALL
#include "verify/capture/digest.h"

#include <xxhash.h>

#include <cstdio>

namespace bitwell::capture {

struct Digest::State {
  XXH3_state_t xxh;
};

Digest::Digest() : state_(new State) { XXH3_64bits_reset(&state_->xxh); }
Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) {
  XXH3_64bits_update(&state_->xxh, bytes.data(), bytes.size());
}

std::string Digest::hex() const {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(XXH3_64bits_digest(&state_->xxh)));
  return text;
}

}  // namespace bitwell::capture
