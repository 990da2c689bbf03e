// bitwell verify --time: what a suite's kernels would take, beside their verdicts.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "verify/verdict/time.h"

namespace bitwell::cli {

// One row a kernel: by shape, the fastest first.
std::string time_table(const std::vector<verdict::TimedCase>& timed,
                       const std::vector<verdict::Verdict>& verdicts);
nlohmann::json time_json(const verdict::TimedCase& timed);
// Of that verdict's kernel and architecture; nullptr: none.
const verdict::TimedCase* time_of(const std::vector<verdict::TimedCase>& timed, const verdict::Verdict& v);

}  // namespace bitwell::cli
