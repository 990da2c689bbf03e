// Which of a warp's lanes have a value that is known.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "../kernel.h"

namespace bitwell::isa {

struct KnownLanes {
  uint32_t unknown = 0;  // one bit each
  std::array<uint32_t, 32> values{};
  std::string wrong;  // what else ended a run; or empty
};

// Of a kernel k(in, out) of one warp, each lane of which stores its word. A run ends at the first that is not
// known, so it is made again until none is left: the last word of `in` says which lanes are to store 0.
inline KnownLanes known_lanes(const test::Module& module, std::vector<uint32_t> in) {
  KnownLanes out;
  in.push_back(0);
  for (int tries = 0; tries < 33; ++tries) {
    in.back() = out.unknown;
    launch::Launch l;
    l.entry = "k";
    l.shape.block = {32, 1, 1};
    std::vector<std::byte> bytes(4 * in.size());
    std::memcpy(bytes.data(), in.data(), bytes.size());
    l.add_buffer({"in", bytes, true, true, false});
    l.add_buffer({"out", std::vector<std::byte>(128), true, false, true});
    try {
      test::run_ptx(module, l);
    } catch (const machine::Fault& f) {
      const std::string said = f.what();
      const size_t at = said.find("thread (");
      if (at == std::string::npos || said.find("ever written") == std::string::npos) {
        out.wrong = said;
        return out;
      }
      out.unknown |= 1u << std::stoi(said.substr(at + 8));
      continue;
    }
    std::memcpy(out.values.data(), l.buffers[1].bytes.data(), 128);
    return out;
  }
  out.wrong = "no end";
  return out;
}

}  // namespace bitwell::isa
