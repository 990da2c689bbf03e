// What is ordered, and what is left open, asked with delays: generic stores and bulk copies of shared memory
// (PTX ISA 9.0, 8.9 proxies; 9.7.9.25). Each question once as the manual wants it, where no word may differ,
// and once with what orders it left out: then the words that are not those of the order of the program are
// counted.
#include <fmt/format.h>

#include <numeric>

#include "verify/prove/question.h"

namespace bitwell::prove {
namespace {

constexpr uint32_t kCopiers = 128, kRounds = 256, kBytes = 16 * kCopiers;  // of shared memory, a round
constexpr uint32_t kDelays[] = {0, 100, 1000, 10000};  // ns, between the two that may part

// Rounds of the code in `round`, which has %tid.x in %r0, the round in %r1, 4 * (round * threads + thread) in
// %r2, the thread's 16 bytes of `sm` in %r3, where the round goes in %a0 and where it comes from in %a1;
// thread 0 alone has %p0.
std::string kernel(const std::string& target, const std::string& round) {
  return fmt::format(
      ".version 8.7\n.target {}\n.address_size 64\n.visible .entry ordering(.param .u64 in, .param .u64 "
      "out)\n{{\n"
      ".reg .pred %p<4>;\n.reg .b32 %r<12>;\n.reg .b64 %a<6>;\n"
      ".shared .align 128 .b8 sm[{}];\n.shared .align 8 .b8 bar[8];\n"
      "ld.param.u64 %a0, [out];\nld.param.u64 %a1, [in];\nmov.u32 %r0, %tid.x;\n"
      "setp.eq.u32 %p0, %r0, 0;\nshl.b32 %r3, %r0, 4;\nmov.u32 %r4, sm;\nadd.u32 %r3, %r3, %r4;\n"
      "shl.b32 %r2, %r0, 2;\nmov.u32 %r1, 0;\nmov.u32 %r5, 0;\n"
      "@%p0 mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async.shared::cta;\nbar.sync 0;\nagain:\n{}"
      "bar.sync 0;\nadd.u64 %a0, %a0, {};\nadd.u32 %r2, %r2, {};\nadd.u32 %r1, %r1, 1;\n"
      "setp.lt.u32 %p1, %r1, {};\n@%p1 bra again;\n@%p0 cp.async.bulk.wait_group 0;\nret;\n}}\n",
      target, kBytes, round, kBytes, 4 * kCopiers, kRounds);
}

std::string delay(uint32_t ns) { return ns == 0 ? "" : fmt::format("nanosleep.u32 {};\n", ns); }

// Every thread stores 16 bytes, one copies all of them to global memory.
std::string stored_and_copied(bool fenced, bool waited, uint32_t before_copy, uint32_t after_copy) {
  return "add.u32 %r6, %r2, 1;\nadd.u32 %r7, %r2, 2;\nadd.u32 %r8, %r2, 3;\n"
         "st.shared.v4.u32 [%r3], {%r2, %r6, %r7, %r8};\n" +
         std::string(fenced ? "fence.proxy.async.shared::cta;\n" : "") + "bar.sync 0;\n@!%p0 bra copied;\n" +
         delay(before_copy) + "cp.async.bulk.global.shared::cta.bulk_group [%a0], [sm], " +
         std::to_string(kBytes) + ";\ncp.async.bulk.commit_group;\n" +
         (waited ? "cp.async.bulk.wait_group.read 0;\n" : "") + delay(after_copy) + "copied:\n";
}

// Two copies from global memory to one place, the second of which every thread then reads.
std::string copied_twice(bool ordered, uint32_t between) {
  const std::string bytes = std::to_string(kBytes);
  const auto copy = [&](const char* from) {
    return "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [" + std::string(from) +
           "], " + bytes + ", [bar];\n";
  };
  const auto wait = [](const char* label) {
    return std::string(label) + ": mbarrier.try_wait.parity.shared.b64 %p2, [bar], %r5;\n@!%p2 bra " + label +
           ";\nxor.b32 %r5, %r5, 1;\n";
  };
  const auto expect = [&](uint32_t copies) {
    return "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], " + std::to_string(copies * kBytes) + ";\n";
  };
  std::string out = "add.u64 %a2, %a1, " + bytes + ";\n" + expect(ordered ? 1 : 2) + "@!%p0 bra first;\n" +
                    copy("%a1") + "first:\n";
  if (ordered) out += wait("half") + "bar.sync 0;\n" + expect(1);
  out += "@!%p0 bra second;\n" + delay(between) + copy("%a2") + "second:\n" + wait("whole");
  return out +
         "ld.shared.v4.u32 {%r6, %r7, %r8, %r9}, [%r3];\nmul.wide.u32 %a3, %r0, 16;\nadd.u64 %a3, %a3, %a0;\n"
         "st.global.v4.u32 [%a3], {%r6, %r7, %r8, %r9};\nfence.proxy.async.shared::cta;\n";
}

Question ask(const std::string& target, const std::string& name, bool open, uint32_t ns,
             const std::string& round) {
  const auto text = std::make_shared<const isa::Module>(kernel(target, round));
  return {fmt::format("{}, {} ns between", name, ns),
          [text] {
            launch::Launch l;
            l.entry = "ordering";
            l.shape.grid = {1, 1, 1};
            l.shape.block = {kCopiers, 1, 1};
            std::vector<std::byte> in(size_t{2} * kBytes);
            for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(1 + i / kBytes);
            l.add_buffer({"in", in, true, true, false});
            l.add_buffer({"out", std::vector<std::byte>(size_t{kRounds} * kBytes), false, false, true});
            return std::vector<Trial>{{{{l}, {}}, {text}}};
          },
          {},
          open};
}

}  // namespace

std::vector<Question> ordering_questions(const std::string& target) {
  std::vector<Question> out;
  for (const bool open : {false, true})
    for (const uint32_t ns : kDelays) {
      out.push_back(ask(target,
                        open ? "a store and a bulk copy of it, no proxy fence"
                             : "a store, a proxy fence and a bulk copy of it",
                        open, ns, stored_and_copied(!open, true, ns, 0)));
      out.push_back(ask(target,
                        open ? "a bulk copy whose source is overwritten, no wait"
                             : "a bulk copy, a wait for its reading, and its source overwritten",
                        open, ns, stored_and_copied(true, !open, 0, ns)));
      out.push_back(ask(
          target,
          open ? "two bulk copies to one place" : "a bulk copy, a wait for it, and another to the same place",
          open, ns, copied_twice(!open, ns)));
    }
  return out;
}

}  // namespace bitwell::prove
