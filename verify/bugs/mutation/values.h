// What can be said of registers from the text alone: which hold sizes and indices, and which are zero because
// of that.
//
// Assumed, as the kernels' host sides see to it: sizes and indices are from 0 to 2^30 - 1 (of 64 bits: 2^62 -
// 1), and nothing computed from them overflows.
#pragma once
#include <set>
#include <string>
#include <string_view>

#include "verify/bugs/mutation/parts.h"

namespace bitwell::bugs {

class Values {
 public:
  explicit Values(std::string_view text);
  // Whether two instructions with the same destination and operands that the registers stand for give the
  // same value.
  bool same(const Parts& a, const Parts& b) const;
  // Whether a barrier is for fewer threads than the CTA's.
  bool counts_threads() const { return counts_threads_; }

 private:
  bool is_small(const std::string& operand) const;  // 0 to 2^30 - 1, or 2^62 - 1
  bool is_zero(const std::string& operand) const;
  bool gives_index(const Parts& p) const;
  bool gives_small(const Parts& p) const;
  bool gives_zero(const Parts& p) const;
  // The operand that the instruction copies, because the other is zero; empty if it does not.
  std::string copies(const Parts& p) const;

  bool counts_threads_ = false;
  std::set<std::string> index_, small_, zero_;
};

}  // namespace bitwell::bugs
