// What multiprocessors near each other ask L2 for at about one time.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "model/machine/failure.h"
#include "model/timing/server.h"

namespace bitwell::timing {

// By sectors of global memory: which multiprocessor of a GPC asked for it last, and when. What was asked for
// thousands of cycles ago is forgotten. (NVIDIA's word: a GPC is some 16 multiprocessors that share a way to
// L2.)
class Neighbours {
 public:
  static constexpr Time kNever = INT64_MAX;

  explicit Neighbours(uint32_t gpcs)
      : asked_(static_cast<Asked*>(std::calloc(size_t{gpcs} << kBits, sizeof(Asked)))) {
    if (asked_ == nullptr) throw machine::Unsupported("more multiprocessors than memory has room for");
  }
  // How long before or behind this one another multiprocessor of that GPC has asked.
  Time apart(uint32_t gpc, uint32_t sm, uint64_t sector, Time now) {
    constexpr uint64_t kMix = 0x9E3779B97F4A7C15;
    Asked& of = asked_[(size_t{gpc} << kBits) + (sector * kMix >> (64 - kBits))];
    const uint64_t before = of.what, here = sector << kWhoBits | (sm + 1);
    const Time at = of.at;
    of = {here, now};
    const bool by_another = before != 0 && before >> kWhoBits == sector && before != here;
    return by_another ? std::abs(now - at) : kNever;
  }

 private:
  static constexpr int kBits = 14;  // more than a GPC asks for in that time
  static constexpr int kWhoBits = 16;
  struct Asked {
    uint64_t what;  // a sector's number, and 1 and who asked; 0: nothing
    Time at;
  };
  struct Free {
    void operator()(Asked* p) const { std::free(p); }
  };
  std::unique_ptr<Asked[], Free> asked_;  // of 0; pages of it come when they are touched
};

}  // namespace bitwell::timing
