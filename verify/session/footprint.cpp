#include "verify/session/footprint.h"

#include <algorithm>

#include "model/run/stuck/nearby.h"

namespace bitwell::session {
namespace {

template <class Never>
std::vector<std::pair<size_t, size_t>> runs(size_t count, const Never& never) {
  std::vector<std::pair<size_t, size_t>> out;
  for (size_t i = 0; i < count; ++i) {
    if (!never(i)) continue;
    const size_t first = i;
    while (i + 1 < count && never(i + 1)) ++i;
    out.emplace_back(first, i);
  }
  return out;
}

std::vector<Reserved::Part> parts(const std::vector<uint8_t>& shared, const isa::Program& program) {
  std::vector<Reserved::Part> out;
  for (const isa::SharedVariable& v : program.shared_variables) {
    const bool dynamic = v.size == 0;
    const size_t end = dynamic ? shared.size() : static_cast<size_t>(v.offset + v.size);
    if (v.offset >= end || end > shared.size()) continue;
    const auto at = [&](size_t i) { return shared.begin() + static_cast<std::ptrdiff_t>(i); };
    out.push_back({run::readable(v.name), dynamic, v.offset, end - v.offset,
                   static_cast<size_t>(std::count(at(v.offset), at(end), 1))});
  }
  return out;
}

}  // namespace

size_t Reserved::untouched() const {
  size_t out = 0;
  for (const auto& [first, last] : never) out += last - first + 1;
  return out;
}

Memories memories_of(const run::Footprint& f, const isa::Program& program) {
  Memories out;
  if (!f.shared.empty())
    out.shared = {f.shared.size(), static_cast<size_t>(std::count(f.shared.begin(), f.shared.end(), 1)),
                  runs(f.shared.size(), [&](size_t i) { return f.shared[i] == 0; }),
                  parts(f.shared, program)};
  const machine::TensorMemory::Used& t = f.tensor;
  if (t.allocated.any())
    out.tensor = {t.allocated.count(),
                  t.written.count(),
                  runs(t.allocated.size(), [&](size_t i) { return t.allocated[i] && !t.written[i]; }),
                  {}};
  return out;
}

}  // namespace bitwell::session
