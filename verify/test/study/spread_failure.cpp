// A study that fails in another process than the first, for spread_test.sh.
#include <cstdio>
#include <exception>
#include <stdexcept>

#include "experiments/study/table.h"

int main() {
  using namespace bitwell::study;
  const Spread spread(true);
  const Study study{"failure", "nothing", 0, {"piece"}, 8, [&](size_t piece) {
                      if (spread.rank() != 0 && piece >= 4)
                        throw std::runtime_error("piece " + std::to_string(piece) + " fails");
                      return std::vector<std::vector<std::string>>{{std::to_string(piece)}};
                    }};
  Running running;
  running.threads = 1;
  running.spread = &spread;
  try {
    run(study, running);
  } catch (const std::exception& e) {
    std::printf("process %zu: %s\n", spread.rank(), e.what());
    return 1;
  }
  return 0;
}
