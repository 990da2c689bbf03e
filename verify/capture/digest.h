// A digest of output bits, for captures: XXH3, 64 bits, over buffers in order.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace bitwell::capture {

class Digest {
 public:
  Digest();
  ~Digest();
  void add(std::span<const std::byte> bytes);
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bitwell::capture
