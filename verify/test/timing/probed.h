// What an H200 said of the probes, by what was probed, and with what: experiments/results/time_probes.csv.
#pragma once
#include <fstream>
#include <map>
#include <string>
#include <utility>

namespace bitwell::timing {

using Probed = std::map<std::pair<std::string, std::string>, double>;

inline const Probed& probes() {
  static const Probed all = [] {
    Probed out;
    std::ifstream in(BITWELL_PROBES);
    for (std::string line; std::getline(in, line);) {
      if (line.empty() || line[0] != '"') continue;
      const size_t first = line.find("\",\""), second = line.find("\",", first + 3);
      const std::string what = line.substr(1, first - 1), with = line.substr(first + 3, second - first - 3);
      out[{what, with}] = std::stod(line.substr(second + 2));
    }
    return out;
  }();
  return all;
}

}  // namespace bitwell::timing
