// The numbers of std::mt19937_64 in a third of its time: its refill asks whether each word is odd by a
// branch, as g++ 12 compiles it but for -O1, and half of these are guessed wrong.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace bitwell::suite {

class Mersenne {
 public:
  explicit Mersenne(uint64_t seed) {
    words_[0] = seed;
    for (size_t i = 1; i < kWords; ++i)
      words_[i] = 6364136223846793005u * (words_[i - 1] ^ words_[i - 1] >> 62) + i;
  }
  uint64_t operator()() {
    if (next_ == kWords) refill();
    uint64_t x = words_[next_++];
    x ^= x >> 29 & 0x5555555555555555u;
    x ^= x << 17 & 0x71D67FFFEDA60000u;
    x ^= x << 37 & 0xFFF7EEE000000000u;
    return x ^ x >> 43;
  }

 private:
  static constexpr size_t kWords = 312, kMiddle = 156;
  void refill() {
    const auto from = [&](size_t i, size_t next, size_t middle) {
      const uint64_t x = (words_[i] & ~uint64_t{0x7FFFFFFF}) | (words_[next] & 0x7FFFFFFF);
      words_[i] = words_[middle] ^ x >> 1 ^ ((0 - (x & 1)) & 0xB5026F5AA96619E9u);
    };
    for (size_t i = 0; i < kWords - kMiddle; ++i) from(i, i + 1, i + kMiddle);
    for (size_t i = kWords - kMiddle; i < kWords - 1; ++i) from(i, i + 1, i + kMiddle - kWords);
    from(kWords - 1, 0, kMiddle - 1);
    next_ = 0;
  }
  std::array<uint64_t, kWords> words_;
  size_t next_ = kWords;
};

}  // namespace bitwell::suite
