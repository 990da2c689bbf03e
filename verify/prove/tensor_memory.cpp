// Which cells of tensor memory tcgen05.ld, st, cp and shift reach, asked by coordinates (PTX
// ISA 9.0, 9.7.16).
#include <fmt/format.h>

#include <cstring>

#include "verify/prove/question.h"

namespace bitwell::prove {
namespace {

constexpr int kColumns = 64;
constexpr uint32_t kImage = 16384;  // bytes of shared memory that cp copies from
constexpr uint32_t kThreads = 128;

// {%v0, %v1, ...}
std::string registers(int count) {
  std::string out = "{";
  for (int i = 0; i < count; ++i) out += fmt::format("{}%v{}", i == 0 ? "" : ", ", i);
  return out + "}";
}
std::string load(const std::string& shape, int count, const std::string& address,
                 const std::string& more = "") {
  return fmt::format("tcgen05.ld.sync.aligned.{}.b32 {}, [{}]{};\ntcgen05.wait::ld.sync.aligned;\n", shape,
                     registers(count), address, more);
}
std::string store(const std::string& shape, int count, const std::string& address,
                  const std::string& more = "") {
  return fmt::format("tcgen05.st.sync.aligned.{}.b32 [{}]{}, {};\ntcgen05.wait::st.sync.aligned;\n", shape,
                     address, more, registers(count));
}
// Registers 0 to count - 1 hold thread << 16 | number, or zero.
std::string coordinates(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format("or.b32 %v{}, %r5, {};\n", i, i);
  return out;
}
std::string zeros(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format("mov.b32 %v{}, 0;\n", i);
  return out;
}
// Registers to `out`, [register][thread].
std::string written(int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += fmt::format("st.global.u32 [%a1+{}], %v{};\n", 4 * kThreads * i, i);
  return out;
}

// 128 threads have 64 columns from %r2 on, their warps' lanes from %r3 on. %r5 is thread << 16; the image, 16
// KiB of words that count from 0, stands in shared memory at `sh`; thread 0 is %p1.
std::string kernel(const std::string& body) {
  return fmt::format(
      ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry ask(.param .u64 out)\n{{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .b32 %v<128>;\n.reg .b64 %a<4>;\n.reg .b64 %x<2>;\n"
      ".shared .align 1024 .b8 sh[{0}];\n.shared .align 8 .b8 bar[8];\n.shared .align 4 .b32 base;\n"
      "ld.param.u64 %a0, [out];\nmov.u32 %r0, %tid.x;\nshr.u32 %r1, %r0, 5;\nsetp.eq.u32 %p0, %r1, 0;\n"
      "setp.eq.u32 %p1, %r0, 0;\nmul.wide.u32 %a1, %r0, 4;\nadd.u64 %a1, %a0, %a1;\nshl.b32 %r5, %r0, 16;\n"
      "@%p1 mbarrier.init.shared.b64 [bar], 1;\nmov.u32 %r6, sh;\nmov.u32 %r7, %r0;\n"
      "fill: shl.b32 %r8, %r7, 2;\nadd.u32 %r8, %r6, %r8;\nst.shared.u32 [%r8], %r7;\n"
      "add.u32 %r7, %r7, {1};\nsetp.lt.u32 %p2, %r7, {2};\n@%p2 bra fill;\nfence.proxy.async.shared::cta;\n"
      "@%p0 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], {3};\nbar.sync 0;\n"
      "ld.shared.b32 %r2, [base];\nshl.b32 %r3, %r1, 21;\nadd.u32 %r3, %r2, %r3;\n{4}"
      "bar.sync 0;\nld.shared.b32 %r2, [base];\n"
      "@%p0 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, {3};\nret;\n}}\n",
      kImage, kThreads, kImage / 4, kColumns, body);
}

// Thread 0 issues what every warp then waits for.
std::string issued(const std::string& operation) {
  return "tcgen05.fence::before_thread_sync;\nbar.sync 0;\n@!%p1 bra "
         "issued;\ntcgen05.fence::after_thread_sync;\n" +
         operation +
         "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];\n"
         "issued:\nwait: mbarrier.try_wait.parity.shared.b64 %p3, [bar], 0;\n@!%p3 bra wait;\n"
         "bar.warp.sync -1;\ntcgen05.fence::after_thread_sync;\n";
}

Question ask(std::string name, const std::string& body, int words) {
  const auto text = std::make_shared<const isa::Module>(kernel(body));
  return {std::move(name), [text, words] {
            launch::Launch l;
            l.entry = "ask";
            l.shape.block = {kThreads, 1, 1};
            l.add_buffer({"out", std::vector<std::byte>(size_t{4} * kThreads * static_cast<size_t>(words)),
                          true, false, true});
            return std::vector<Trial>{{{{l}, {}}, {text}}};
          }};
}

struct Shape {
  const char* name;
  int columns, registers;  // of .x1
  bool halves;             // of 16 lanes: the other 16 are reached from lane 16 on
};
constexpr Shape kShapes[] = {
    {"32x32b", 1, 1, false}, {"16x64b", 2, 1, true}, {"16x128b", 4, 2, true}, {"16x256b", 8, 4, true}};

void add_moves(std::vector<Question>& out) {
  const std::string plain = "32x32b.x64";
  const std::string filled = coordinates(kColumns) + store(plain, kColumns, "%r3");
  for (const Shape& s : kShapes)
    for (int times = 1; s.columns * times <= kColumns; times *= 2)
      for (const int lane : {0, 16}) {
        if (lane != 0 && !s.halves) continue;
        const int count = s.registers * times;
        const std::string shape = fmt::format("{}.x{}", s.name, times);
        const std::string address = fmt::format("%r3+{}", lane << 16);
        out.push_back(ask(fmt::format("tcgen05.ld {} from lane {}", shape, lane),
                          filled + load(shape, count, address) + written(count), count));
        out.push_back(ask(fmt::format("tcgen05.st {} from lane {}", shape, lane),
                          zeros(kColumns) + store(plain, kColumns, "%r3") + coordinates(count) +
                              store(shape, count, address) + load(plain, kColumns, "%r3") + written(kColumns),
                          kColumns));
      }
  for (const int gap : {1, 2, 7, 30})
    out.push_back(ask(fmt::format("tcgen05.ld 16x32bx2.x2, halves {} columns apart", gap),
                      filled + load("16x32bx2.x2", 2, "%r3", fmt::format(", {}", gap)) + written(2), 2));
  out.push_back(ask("tcgen05.st unpack::16b",
                    filled + "prmt.b32 %v0, %v1, %v2, 0x7531;\nprmt.b32 %v1, %v3, %v4, 0x6420;\n" +
                        store("32x32b.x2.unpack::16b", 2, "%r3") + load(plain, kColumns, "%r3") +
                        written(kColumns),
                    kColumns));
  out.push_back(ask("tcgen05.ld pack::16b", filled + load("32x32b.x2.pack::16b", 2, "%r3") + written(2), 2));
  for (const int column : {0, 8, 32})
    out.push_back(ask(fmt::format("tcgen05.shift.down from column {}", column),
                      filled + issued(fmt::format("tcgen05.shift.cta_group::1.down [%r2+{}];\n", column)) +
                          load(plain, kColumns, "%r3") + written(kColumns),
                      kColumns));
}

void add_copies(std::vector<Question>& out) {
  // Start 0, leading offset 16 bytes, stride 128 bytes, version 1, no swizzle (9.7.16.4.1).
  constexpr uint64_t kDescriptor = uint64_t{1} << 16 | uint64_t{8} << 32 | uint64_t{1} << 46;
  for (const char* shape :
       {"128x256b", "4x256b", "128x128b", "64x128b.warpx2::02_13", "64x128b.warpx2::01_23", "32x128b.warpx4"})
    for (const char* format : {"", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"})
      out.push_back(
          ask(fmt::format("tcgen05.cp {}{}", shape, format),
              zeros(kColumns) + store("32x32b.x64", kColumns, "%r3") +
                  issued(fmt::format("cvt.u64.u32 %x0, %r6;\nshr.u64 %x0, %x0, 4;\nadd.u64 %x0, %x0, {};\n"
                                     "tcgen05.cp.cta_group::1.{}{} [%r2+4], %x0;\n",
                                     kDescriptor, shape, format)) +
                  load("32x32b.x64", kColumns, "%r3") + written(kColumns),
              kColumns));
}

}  // namespace

std::vector<Question> tensor_memory_questions() {
  std::vector<Question> out;
  add_moves(out);
  add_copies(out);
  return out;
}

}  // namespace bitwell::prove
