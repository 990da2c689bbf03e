// The kernel that stands between launches which are repeated on a GPU: it looks at what the last ones left.
#pragma once
#include <string>

namespace bitwell::device {

constexpr const char* kBetween = "between";  // its entry

// PTX for sm_90. Launches stand side by side; each has buffers of its own, `words` words of 4 bytes in all.
// Parameters, in order:
//   u64 places     address of each word of each launch, u64
//   u64 before     each word as it is to be before a launch
//   u64 compared   of each word the bits that count
//   u64 ends       `ends_count` legal ends, each `words` words
//   u64 wrong      u32 of each launch: one more where it left none of the ends
//   u64 example    words of each launch: what it left the last time that was so
//   u32 words, ends_count, launches
//   u32 shared     bytes of dynamic shared memory, a multiple of 16
// CTA i judges launch i and puts its words back to `before`; every CTA then fills its dynamic shared memory
// with words drawn from its clock, so that no launch finds there what an earlier one has left. The grid has
// at least one CTA a launch, and one for each multiprocessor; its blocks have one dimension.
std::string between_launches();

}  // namespace bitwell::device
