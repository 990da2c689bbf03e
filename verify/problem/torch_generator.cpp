#include "verify/problem/torch_generator.h"

#include <algorithm>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::problem {
namespace {

constexpr uint64_t kMultiprocessors = 148;
constexpr uint64_t kBlock = 256;
constexpr uint64_t kBlocksEach = 8;
constexpr uint64_t kMost = (uint64_t{1} << 31) - 1;

constexpr uint64_t up(uint64_t v, uint64_t to) { return (v + to - 1) / to; }

}  // namespace

TorchGenerator::Tensor TorchGenerator::next(std::initializer_list<uint64_t> extents, std::string_view name) {
  uint64_t elements = 1;
  for (const uint64_t extent : extents)
    elements = elements != 0 && extent > kMost / elements ? kMost + 1 : elements * extent;
  if (elements == 0 || elements > kMost)
    throw machine::InputError("the problem's " + std::string(name) + " would have " +
                              (elements == 0 ? "no" : "more than " + std::to_string(kMost)) +
                              " elements: torch draws 1 to " + std::to_string(kMost) + " at once");
  Tensor out;
  out.seed_ = seed_;
  out.first_ = first_;
  out.threads_ = kBlock * std::min(kMultiprocessors * kBlocksEach, up(elements, kBlock));
  first_ += up(elements, 4 * out.threads_);
  return out;
}

}  // namespace bitwell::problem
