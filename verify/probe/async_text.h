// Pieces of PTX that the probes of asynchronous instructions are put together from.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "verify/probe/async.h"

namespace bitwell::probe {

using Random = std::mt19937_64;

inline constexpr uint32_t kTile = 16384;  // bytes of shared memory that a case moves at most
inline constexpr uint32_t kThreads = 128;

inline constexpr const char* kRegisters =
    ".reg .pred %p<8>; .reg .b16 %h<4>; .reg .b32 %r<32>; .reg .b64 %q<16>;\n"
    ".shared .align 1024 .b8 tile[16384];\n.shared .align 8 .b64 bar;\n"
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; setp.eq.u32 %p0, %r0, 0; mov.u32 %r2, tile; shl.b32 %r3, "
    "%r0, 4;\n";

inline std::string module(const std::string& parameters, const std::string& body,
                          const std::string& cluster = "") {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry probe(" + parameters + ")\n" +
         cluster + "{\n" + kRegisters + body + "ret;\n}\n";
}

// Every thread in turn moves 16 bytes: tile <- word, tile <- global, global <- tile.
inline std::string each_16(const std::string& label, const std::string& body) {
  return fmt::format(
      "mov.u32 %r4, %r3;\n{0}:\nadd.u32 %r5, %r2, %r4; cvt.u64.u32 %q0, %r4;\n{1}add.u32 %r4, %r4, {2}; "
      "setp.lt.u32 "
      "%p7, %r4, {3};\n@%p7 bra {0};\n",
      label, body, 16 * kThreads, kTile);
}
inline std::string fill_tile() {
  return each_16("fill", "mov.u32 %r6, 0xA5A5A5A5; st.shared.v4.b32 [%r5], {%r6,%r6,%r6,%r6};\n");
}
inline std::string load_tile(const std::string& from) {  // from + CTA's share
  return "ld.param.u64 %q1, [" + from + "]; mul.wide.u32 %q2, %r1, 16384; add.u64 %q1, %q1, %q2;\n" +
         each_16("fetch",
                 "add.u64 %q3, %q1, %q0; ld.global.v4.b32 {%r6,%r7,%r8,%r9}, [%q3]; st.shared.v4.b32 [%r5], "
                 "{%r6,%r7,%r8,%r9};\n");
}
inline std::string store_tile(const std::string& to) {
  return "ld.param.u64 %q1, [" + to + "]; mul.wide.u32 %q2, %r1, 16384; add.u64 %q1, %q1, %q2;\n" +
         each_16("keep",
                 "add.u64 %q3, %q1, %q0; ld.shared.v4.b32 {%r6,%r7,%r8,%r9}, [%r5]; st.global.v4.b32 [%q3], "
                 "{%r6,%r7,%r8,%r9};\n");
}
inline constexpr const char* kReady =
    "@%p0 mbarrier.init.shared.b64 [bar], "
    "1;\nfence.mbarrier_init.release.cluster;\nfence.proxy.async;\nbar.sync 0;\n";
inline constexpr const char* kWait =
    "wait:\nmbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;\n@!%p1 bra wait;\n";
inline constexpr const char* kDrain = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";

inline std::vector<std::byte> random_bytes(size_t count, Random& random) {
  std::vector<std::byte> out(count);
  for (size_t i = 0; i < count; i += 8) {
    const uint64_t v = random();
    std::memcpy(&out[i], &v, std::min<size_t>(8, count - i));
  }
  return out;
}
template <class T>
inline std::vector<std::byte> bytes_of(const std::vector<T>& v) {
  std::vector<std::byte> out(v.size() * sizeof(T));
  std::memcpy(out.data(), v.data(), out.size());
  return out;
}

inline constexpr const char* kClusterReady =
    "@%p0 mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\nfence.proxy.async;\n"
    "barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;\nmov.u32 %r21, "
    "%cluster_ctarank;\n";
inline constexpr const char* kClusterEnd = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

// Sizes and places in units of 16 bytes: boundary values first.
inline uint32_t draw_units(Random& random, uint32_t most) {
  const uint32_t edges[] = {1, 2, most, most - 1};
  const uint64_t kind = random() % 6;
  return kind < 4 ? edges[kind] : 1 + static_cast<uint32_t>(random() % most);
}

// The families that move boxes of tensors; multicast among them.
std::vector<AsyncFamily> tensor_families();

}  // namespace bitwell::probe
