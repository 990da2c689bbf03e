// Operands for the forms that check them by themselves: whatever a spelling takes, something here fits it.
#pragma once
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace bitwell::isa {

// clang-format off
inline constexpr const char* kOperands[] = {
    "", "%r1", "%r1, %r2", "%r1, %r2, %r3", "%r1, %r2, %r3, %r4", "%r1, %r2, %p1", "%r1, %r2, -1", "%r1, %r2, %r3, %r4, -1",
    "%r1, %p1, -1", "%r1, 0, %p1", "%r1|%p1, -1", "%r1, %d1", "%r1, %h1", "%r1, %f1", "%r1, 32",
    "%r1, {%f1, %f2, %f3, %f4}, %r2", "%r1, %f1, %f2", "%r1, %f1, %f2, %r2", "%h1, %h2", "%h1, %r1",
    "%h1, %d1", "%h1, %f1, %f2", "%c1, %f1, %f2", "%r1, %c1", "%c1, %r1", "%d1, %h1", "%d1, %d2", "%d1, %r1",
    "%d1, %r1, %r2", "%d1, %d2, %r2", "%d1, 0f3F800000", "%p1, %p2, -1", "%p1, 0, %p2", "%p1, %r1, %r2",
    "%p1, %h1, %h2", "%p1, %d1, %d2", "%p1, %r1, %r2, %p2", "%p1, %h1, %h2, %p2", "%p1, %d1, %d2, %p2",
    "%h1, %h2, %h3, %p1", "%h1, %r1, %r2", "%h1, %r1, %r2, %p1", "%h1, %d1, %d2", "%h1, %d1, %d2, %p1",
    "%r1, %r2, %r3, %p1", "%r1, %h1, %h2", "%r1, %h1, %h2, %p1", "%r1, %d1, %d2", "%r1, %d1, %d2, %p1",
    "%p1, %p2", "%q1, %q2", "%p1, %q1", "{%r1, %r2, %r3, %r4}, %q1", "%r1, %q1", "%r1, targets", "label",
    "callee", "0", "160", "%h1, [%d1]", "%r1, [%d1]", "%d1, [%d2]", "%q1, [%d1]", "%h1, [%r1]", "%r1, [%r2]",
    "%d1, [%r1]", "%q1, [%r1]", "{%h1, %h2}, [%d1]", "{%r1, %r2}, [%d1]", "{%d1, %d2}, [%d3]",
    "{%h1, %h2, %h3, %h4}, [%d1]", "{%r1, %r2, %r3, %r4}, [%d1]", "{%d1, %d2, %d3, %d4}, [%d5]",
    "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%d5]", "%h1, [par]", "%r1, [par]", "%d1, [par]",
    "{%r1}, [%d2]", "{%d1}, [%d2]", "{%r1}, [%r2]", "{%r1, %r2}, [%r3]", "{%r1, %r2, %r3, %r4}, [%r5]", "[%d1]", "[%r1]", "[%d1], %h1",
    "[%d1], %r1", "[%d1], %d2", "[%d1], %q1", "[%r1], %h1", "[%r1], %r2", "[%r1], %d1", "[%r1], 1",
    "[%r1], 32", "[%r1], [%r2]", "[%d1], 128", "[%d1], {%h1, %h2}", "[%d1], {%r1, %r2}", "[%d1], {%d2, %d3}",
    "[%d1], {%h1, %h2, %h3, %h4}", "[%d1], {%r1, %r2, %r3, %r4}", "[%d1], {%d2, %d3, %d4, %d5}",
    "[%d1], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}", "[%r1], {%r2}", "[%r1], {%r2, %r3}",
    "[%r1], {%r2, %r3, %r4, %r5}", "[%d1], [%r1], 128", "[%r1], 16, 0", "%h1, [%d1], %h2", "%r1, [%d1], %r2",
    "%d1, [%d2], %d3", "%h1, [%d1], %h2, %h3", "%r1, [%d1], %r2, %r3", "%d1, [%d2], %d3, %d4", "%d1, [%r1]",
    "%d1, [%r1], 1", "_, [%r1]", "_, [%r1], 1", "%p1, [%r1], %d1", "%p1, [%r1], %r2", "[%r1], %r2, [%r3]",
    "[%r1], %d1, [%r3]", "[%r1], {%r2, %r4}, [%r3]", "[%r1], {%d2, %d4}, [%r3]",
    "[%r1], {%r2, %r4, %r5, %r6}, [%r3]", "[%r1], 0, %r2", "[%r1], 0, %d1", "[%r1], [%d1], 16",
    "[%r1], [%d1], 16, %d2", "[%r1], [%d1], 16, [%r2]", "[%r1], [%r3], 16, [%r2]",
    "[%r1], [%d1], 16, [%r2], %d2", "[%r1], [%d1], 16, [%r2], %h1", "[%r1], [%d1], 16, [%r2], %h1, %d2",
    "[%d1], [%r1], 16", "[%d1], [%r1], 16, %d2", "[%d1], 16", "[%d1], 16, %d2", "[%r1], [%d1, {%r2}], [%r3]",
    "[%r1], [%d1, {%r2}], [%r3], %d2", "[%r1], [%d1, {%r2}], [%r3], %h1",
    "[%r1], [%d1, {%r2}], [%r3], %h1, %d2", "[%r1], [%d1, {%r2, %r2}], [%r3]",
    "[%r1], [%d1, {%r2, %r2}], [%r3], %d2", "[%r1], [%d1, {%r2, %r2}], [%r3], %h1",
    "[%r1], [%d1, {%r2, %r2}], [%r3], %h1, %d2", "[%r1], [%d1, {%r2, %r2, %r2}], [%r3]",
    "[%r1], [%d1, {%r2, %r2, %r2}], [%r3], %d2", "[%r1], [%d1, {%r2, %r2, %r2}], [%r3], %h1",
    "[%r1], [%d1, {%r2, %r2, %r2}], [%r3], %h1, %d2", "[%r1], [%d1, {%r2, %r2, %r2, %r2}], [%r3]",
    "[%r1], [%d1, {%r2, %r2, %r2, %r2}], [%r3], %d2", "[%r1], [%d1, {%r2, %r2, %r2, %r2}], [%r3], %h1",
    "[%r1], [%d1, {%r2, %r2, %r2, %r2}], [%r3], %h1, %d2", "[%r1], [%d1, {%r2, %r2, %r2, %r2, %r2}], [%r3]",
    "[%r1], [%d1, {%r2, %r2, %r2, %r2, %r2}], [%r3], %d2",
    "[%r1], [%d1, {%r2, %r2, %r2, %r2, %r2}], [%r3], %h1",
    "[%r1], [%d1, {%r2, %r2, %r2, %r2, %r2}], [%r3], %h1, %d2", "[%d1, {%r2}], [%r1]",
    "[%d1, {%r2}], [%r1], %d2", "[%d1, {%r2, %r2}], [%r1]", "[%d1, {%r2, %r2}], [%r1], %d2",
    "[%d1, {%r2, %r2, %r2}], [%r1]", "[%d1, {%r2, %r2, %r2}], [%r1], %d2",
    "[%d1, {%r2, %r2, %r2, %r2}], [%r1]", "[%d1, {%r2, %r2, %r2, %r2}], [%r1], %d2",
    "[%d1, {%r2, %r2, %r2, %r2, %r2}], [%r1]", "[%d1, {%r2, %r2, %r2, %r2, %r2}], [%r1], %d2",
    "[%d1, {%r2}]", "[%d1, {%r2}], %d2", "[%d1, {%r2, %r2}]", "[%d1, {%r2, %r2}], %d2",
    "[%d1, {%r2, %r2, %r2}]", "[%d1, {%r2, %r2, %r2}], %d2", "[%d1, {%r2, %r2, %r2, %r2}]",
    "[%d1, {%r2, %r2, %r2, %r2}], %d2", "[%d1, {%r2, %r2, %r2, %r2, %r2}]",
    "[%d1, {%r2, %r2, %r2, %r2, %r2}], %d2",
    "{%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r1, %r2, %r3, %r4}",
    "{%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}",
    "{%f1, %f2, %f3, %f4}, {%r1, %r2}, {%r5}, {%f1, %f2, %f3, %f4}",
    "{%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%f1, %f2, %f3, %f4}, %r7, {0, 1}, %r8, {%h1, %h2}",
    "{%r1, %r2}, {%r1, %r2}, {%r5}, {%r1, %r2}", "{%r1, %r2}, {%r1, %r2, %r3, %r4}, {%r5, %r6}, {%r1, %r2}",
    "[%r1], %d1", "[%r1], %d1, %d2, %r2, %p1", "[%r1], %d1, %d2, %r2, [%r3], [%r4], %p1",
    "{%r1, %r2}, {%r1}, {%r2}, {%r1, %r2}", "{%r1, %r2, %r3, %r4}, {%r1, %r2}, {%r3}, {%r1, %r2, %r3, %r4}",
    "{%d1, %d2}, {%d3}, {%d4}, {%d1, %d2}", "{%d1, %d2, %d3, %d4}, {%d1, %d2}, {%d3}, {%d1, %d2, %d3, %d4}",
    "{%d1, %d2, %d3, %d4}, {%d1, %d2, %d3, %d4}, {%d3, %d4}, {%d1, %d2, %d3, %d4}",
    "{%d1, %d2, %d3, %d4}, {%d1, %d2, %d3, %d4, %d5, %d6, %d7, %d8}, {%d1, %d2, %d3, %d4}, {%d1, %d2, %d3, %d4}",
    "[%r1], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}",
};
// clang-format on

// A vector of that many registers.
inline std::string registers(const std::string& prefix, int count) {
  std::string out = "{";
  for (int n = 0; n < count; ++n) out += (n == 0 ? "" : ", ") + prefix + std::to_string(n + 1);
  return out + "}";
}

// The list, and what is too long for it: fragments of wgmma, cells of tcgen05.
inline std::vector<std::string> operand_candidates() {
  std::vector<std::string> out(std::begin(kOperands), std::end(kOperands));
  for (int n = 8; n <= 256; n += 8)
    for (const int each : {4, 2}) {
      const std::string d = registers(each == 4 ? "%f" : "%r", n / 8 * each);
      for (const char* rest : {", %d1, %d2, %p1, 1, 1", ", %d1, %d2, %p1, 1, 1, 0, 0"})
        out.push_back(d + rest);
    }
  for (int n = 8; n <= 256; n += 8) out.push_back(registers("%r", n / 2) + ", %d1, %d2, %p1");  // of bytes
  for (const auto& [prefix, most] : {std::pair{"%h", 8}, {"%r", 4}})  // vectors of atomics
    for (int n = 2; n <= most; n *= 2)
      for (const char* d : {"[%d1], ", ""})
        out.push_back((*d == 0 ? registers(prefix, n) + ", [%d1], " : d) + registers(prefix, n));
  for (const auto& [a, b] : {std::pair{8, 8}, {2, 2}, {4, 4}, {1, 4}, {4, 1}, {2, 8}, {8, 2}})
    for (const std::string& d : {registers("%f", 8), registers("%r", 8), registers("%r", 4)})  // of wmma
      out.push_back(d + ", " + registers("%r", a) + ", " + registers("%r", b) + ", " + d);
  for (size_t n = 0, plain = out.size(); n < plain; ++n)  // loads, stores and atomics with a cache policy
    if (out[n].find("[%d") != std::string::npos && out[n].find("[%r") == std::string::npos &&
        out[n].find(", {%r2}]") == std::string::npos && out[n].find(", {%r2, %r2") == std::string::npos)
      out.push_back(out[n] + ", %d6");
  for (const int n : {1, 2, 4})  // of textures and surfaces
    for (const std::string& list : {registers("%r", 1), registers("%r", 2), registers("%r", 4),
                                    registers("%d", 1), registers("%d", 2)}) {
      const std::string image = "[%d3, " + registers("%r", n) + "]";
      out.push_back(list + ", " + image);
      out.push_back(image + ", " + list);
    }
  for (int rank = 3; rank <= 5; ++rank)  // of im2col
    for (const char* rest : {"", ", %d2", ", %h5", ", %h5, %d2"}) {
      const std::string tensor = "[%d1, " + registers("%r", rank) + "], ",
                        offsets = registers("%h", rank - 2);
      out.push_back("[%r8], " + tensor + "[%r9], " + offsets + rest);
      out.push_back(tensor + offsets + rest);
    }
  for (int n = 1; n <= 128; n *= 2) {
    const std::string cells = registers("%r", n);
    out.push_back(cells + ", [%r200]");
    out.push_back(cells + ", [%r200], 4");
    out.push_back(cells + ", %r201, [%r200]");
    out.push_back("[%r200], " + cells);
    out.push_back("[%r200], 4, " + cells);
  }
  return out;
}

}  // namespace bitwell::isa
