// What a program is given, and its smaller ones.
#include <algorithm>
#include <cstring>

#include "model/isa/form/type.h"
#include "verify/probe/instruction.h"
#include "verify/program/drawing.h"

namespace bitwell::program {
namespace {

// Rows of values: the first half of each type's are its boundary values, one after the other.
std::vector<std::byte> input_rows(uint64_t seed) {
  std::vector<std::byte> out(size_t{16} * kInputRows);
  std::mt19937_64 random(seed);
  for (size_t c = 0; c < std::size(kRowTypes); ++c) {
    const std::vector<uint64_t> edges = probe::boundary_values(kRowTypes[c]);
    const size_t width = static_cast<size_t>(isa::find_type(kRowTypes[c])->bits) / 8;
    size_t next = random() % edges.size();
    for (size_t row = c; row < kInputRows; row += std::size(kRowTypes))
      for (size_t at = 0; at < 16; at += width) {
        const uint64_t value = row < kInputRows / 2 ? edges[next++ % edges.size()] : random();
        std::memcpy(out.data() + 16 * row + at, &value, width);
      }
  }
  return out;
}

size_t count(const Body& body) {
  size_t out = 0;
  for (const Statement& s : body) {
    ++out;
    for (const Body& b : s.bodies) out += count(b);
  }
  return out;
}

// Each change of one statement of `body`, which is a part of `whole`, that makes it smaller.
void change(RandomProgram& whole, Body& body, std::vector<RandomProgram>& out) {
  for (size_t i = 0; i < body.size(); ++i) {
    const Statement here = body[i];
    body.erase(body.begin() + static_cast<std::ptrdiff_t>(i));
    out.push_back(whole);
    body.insert(body.begin() + static_cast<std::ptrdiff_t>(i), here);
    for (size_t b = 0; b < here.bodies.size(); ++b) change(whole, body[i].bodies[b], out);
  }
}

}  // namespace

launch::Launch launch_of(const RandomProgram& p) {
  launch::Launch out;
  out.entry = entry_of(p);
  out.shape.grid = {p.grid, 1, 1};
  out.shape.block = {p.block, 1, 1};
  out.add_buffer({"in", input_rows(p.seed), true, true, false});
  out.add_buffer({"own", std::vector<std::byte>(size_t{kOwnBytes} * p.grid * p.block), true, false, true});
  out.add_buffer({"cells", std::vector<std::byte>(kCellBytes * std::size(kCells)), true, false, true});
  out.add_buffer(
      {"ends", std::vector<std::byte>(kCellBytes * std::size(kCells) * p.grid), true, false, true});
  out.add_scalar(static_cast<uint32_t>(p.seed));
  return out;
}

size_t statements(const RandomProgram& p) {
  size_t out = count(p.body) + count(p.tail);
  for (const Body& f : p.functions) out += count(f);
  return out;
}

std::vector<RandomProgram> smaller(const RandomProgram& program) {
  std::vector<RandomProgram> out;
  RandomProgram whole = program;
  change(whole, whole.body, out);
  change(whole, whole.tail, out);
  for (Body& f : whole.functions) change(whole, f, out);
  std::stable_sort(out.begin(), out.end(), [](const RandomProgram& a, const RandomProgram& b) {
    return statements(a) < statements(b);
  });
  return out;
}

RandomProgram shrunk(RandomProgram program, const std::function<bool(const RandomProgram&)>& fails,
                     int most) {
  for (bool again = true; again;) {
    again = false;
    for (RandomProgram& candidate : smaller(program)) {
      if (most-- <= 0) return program;
      if (!fails(candidate)) continue;
      program = std::move(candidate);
      again = true;
      break;
    }
  }
  return program;
}

}  // namespace bitwell::program
