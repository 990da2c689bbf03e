// What the lanes of a warp reach in a turn, for who keeps the time: no more of it than time hangs on.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/machine/event.h"

namespace bitwell::run {

// One access. Addresses are generic.
struct Reach {
  enum class Form : uint8_t {
    row,   // lane i at first + i * bytes
    same,  // all lanes at first
    each   // lanes have addresses of their own
  };
  Form form = Form::row;
  machine::AccessKind kind = machine::AccessKind::read;
  uint32_t lanes = ~0u;
  uint64_t bytes = 0;  // at each
  uint64_t first = 0;  // the lowest lane's
  std::array<uint64_t, 32> addresses;
};

class Reaches {
 public:
  // For whoever adds one to fill in; `addresses` is as an earlier one left it.
  Reach& add() {
    if (count_ == all_.size()) all_.emplace_back();
    return all_[count_++];
  }
  void row(machine::AccessKind kind, bool same, uint64_t first, uint64_t bytes) {
    Reach& r = add();
    r.form = same ? Reach::Form::same : Reach::Form::row;
    r.kind = kind;
    r.lanes = ~0u;
    r.bytes = bytes;
    r.first = first;
  }
  void clear() { count_ = 0; }
  size_t size() const { return count_; }
  const Reach* begin() const { return all_.data(); }
  const Reach* end() const { return all_.data() + count_; }

 private:
  std::vector<Reach> all_;
  size_t count_ = 0;
};

}  // namespace bitwell::run
