#include "model/layout/banks.h"

#include <array>
#include <set>

namespace bitwell::layout {

BankReport bank_conflicts(const Composed& thread_value, int64_t value, int64_t element_bits,
                          int64_t vector_bytes) {
  const Layout& l = thread_value.layout;
  if (rank(l) != 2 || size(mode(l, 0)) != 32)
    throw LayoutError("a thread-value layout of one warp has two modes, (32 threads, values); " +
                      to_string(l) + " has not");
  if (value < 0 || value >= size(mode(l, 1)))
    throw LayoutError("value " + std::to_string(value) + " of " + std::to_string(size(mode(l, 1))));
  if (vector_bytes != 4 && vector_bytes != 8 && vector_bytes != 16)
    throw LayoutError("a vector of " + std::to_string(vector_bytes) + " bytes, expected 4, 8 or 16");
  if (element_bits <= 0) throw LayoutError("elements of " + std::to_string(element_bits) + " bits");
  std::array<int64_t, 32> address{};
  for (int t = 0; t < 32; ++t) {
    const int64_t bits = multiply(thread_value(std::vector<Tuple>{t, value}), element_bits);
    if (bits % (8 * vector_bytes) != 0)
      throw LayoutError("thread " + std::to_string(t) + " is at bit " + std::to_string(bits) +
                        ", not aligned to " + std::to_string(vector_bytes) + " bytes");
    address[static_cast<size_t>(t)] = bits / 8;
  }
  BankReport report{{}, 0, 0};
  const int at_once = static_cast<int>(128 / vector_bytes);
  for (int first = 0; first < 32; first += at_once) {
    std::array<std::set<int64_t>, 32> words;
    for (int t = first; t < first + at_once; ++t)
      for (int64_t w = address[static_cast<size_t>(t)] / 4;
           w < (address[static_cast<size_t>(t)] + vector_bytes) / 4; ++w)
        words[static_cast<size_t>(w & 31)].insert(w);
    BankPhase phase{first, 0, 0, {}};
    for (int b = 0; b < 32; ++b)
      if (static_cast<int>(words[static_cast<size_t>(b)].size()) > phase.ways) {
        phase.ways = static_cast<int>(words[static_cast<size_t>(b)].size());
        phase.bank = b;
      }
    for (int t = first; t < first + at_once; ++t) {
      const int64_t from = address[static_cast<size_t>(t)] / 4;
      for (int64_t w = from; w < from + vector_bytes / 4; ++w)
        if ((w & 31) == phase.bank) phase.threads.push_back(t);
    }
    report.wavefronts += phase.ways;
    report.ideal += 1;
    report.phases.push_back(std::move(phase));
  }
  return report;
}

}  // namespace bitwell::layout
