// Results found by what they are called, so that a row more or an order changed moves none of them.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "verify/launch/launch.h"
#include "verify/verdict/verdict.h"

namespace bitwell::suite {

inline const std::vector<std::byte>& bytes_of(const launch::Launch& launch, const std::string& buffer) {
  for (const launch::Buffer& b : launch.buffers)
    if (b.name == buffer) return b.bytes;
  throw std::out_of_range("no buffer '" + buffer + "'");
}

inline const verdict::Verdict& verdict_of(const std::vector<verdict::Verdict>& all, const std::string& kernel,
                                          const std::string& arch = "sm_90a") {
  for (const verdict::Verdict& v : all)
    if (v.kernel == kernel && v.arch == arch) return v;
  throw std::out_of_range("no verdict on '" + kernel + "' for " + arch);
}

}  // namespace bitwell::suite
