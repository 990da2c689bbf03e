#include "verify/probe/async_text.h"

namespace bitwell::probe {
namespace {

// tensors

// Parameters {global offset, tile offset, size} in bytes.
launch::Launch bulk_launch(Random& random, std::string& description) {
  launch::Launch l;
  l.entry = "probe";
  l.shape.block = {kThreads, 1, 1};
  const uint32_t units = draw_units(random, kTile / 16);
  const uint32_t room = kTile / 16 - units;
  const std::vector<uint32_t> where{static_cast<uint32_t>(random() % 64 * 16),
                                    room == 0 ? 0 : static_cast<uint32_t>(random() % (room + 1)) * 16,
                                    units * 16};
  l.add_buffer({"where", bytes_of(where), true, true, false});
  description = fmt::format("global offset {}, shared offset {}, {} bytes", where[0], where[1], where[2]);
  return l;
}
constexpr const char* kWhere =
    "ld.param.u64 %q7, [where]; ld.global.b32 %r10, [%q7]; ld.global.b32 %r11, [%q7+4]; ld.global.b32 %r12, "
    "[%q7+8];\n"
    "add.u32 %r11, %r11, %r2; ld.param.u64 %q8, [memory]; cvt.u64.u32 %q9, %r10; add.u64 %q8, %q8, %q9;\n";

AsyncCase bulk_load(uint64_t seed) {
  Random random(seed);
  AsyncCase out;
  out.ptx = module(
      ".param .u64 where, .param .u64 memory, .param .u64 out",
      fill_tile() + kReady + "@!%p0 bra wait;\n" + kWhere +
          "mbarrier.arrive.expect_tx.shared.b64 _, [bar], %r12;\n"
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r11], [%q8], %r12, [bar];\n" +
          kWait + store_tile("out"));
  out.launch = bulk_launch(random, out.description);
  out.launch.add_buffer({"memory", random_bytes(kTile + 1024, random), true, true, false});
  out.launch.add_buffer({"out", std::vector<std::byte>(kTile), false, false, true});
  return out;
}

AsyncCase bulk_out(uint64_t seed, const std::string& spelling) {
  Random random(seed);
  AsyncCase out;
  out.ptx = module(".param .u64 where, .param .u64 memory, .param .u64 in",
                   load_tile("in") + "fence.proxy.async;\nbar.sync 0;\n@!%p0 bra done;\n" + kWhere +
                       spelling + " [%q8], [%r11], %r12;\n" + kDrain + "done:\n");
  out.launch = bulk_launch(random, out.description);
  out.launch.add_buffer({"memory", random_bytes(kTile + 1024, random), true, false, true});
  out.launch.add_buffer({"in", random_bytes(kTile, random), true, true, false});
  out.description = spelling + ", " + out.description;
  return out;
}
AsyncCase bulk_store(uint64_t seed) { return bulk_out(seed, "cp.async.bulk.global.shared::cta.bulk_group"); }
AsyncCase bulk_reduce(uint64_t seed) {
  static const char* const forms[] = {
      "and.b32", "and.b64",        "or.b32",  "or.b64",  "xor.b32",       "xor.b64", "add.u32",
      "add.s32", "add.u64",        "add.f32", "add.f64", "add.noftz.f16", "inc.u32", "dec.u32",
      "min.u32", "min.s32",        "min.u64", "min.s64", "min.f16",       "max.u32", "max.s32",
      "max.u64", "add.noftz.bf16", "max.s64", "max.f16", "min.bf16",      "max.bf16"};
  return bulk_out(seed, std::string("cp.reduce.async.bulk.global.shared::cta.bulk_group.") +
                            forms[seed % std::size(forms)]);
}

// Each CTA of 2 sends to the other's shared memory: a bulk copy or reduction, or st.async or red.async by
// thread.
AsyncCase remote(uint64_t seed) {
  static const char* const stores[] = {"b32", "u32", "s32", "f32", "b64", "u64", "s64", "f64"};
  static const char* const reductions[] = {"and.b32", "or.b32",  "xor.b32", "add.u32", "add.s32", "add.u64",
                                           "inc.u32", "dec.u32", "min.u32", "min.s32", "max.u32", "max.s32"};
  Random random(seed);
  AsyncCase out;
  const uint64_t kind = seed % 4;
  std::string send;
  uint32_t bytes = 0;
  if (kind < 2) {
    bytes = 8192;
    const std::string form = kind == 0
                                 ? "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                                 : fmt::format(
                                       "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::"
                                       "complete_tx::bytes.{}",
                                       reductions[seed / 4 % 12]);
    send = "@!%p0 bra sent;\n" + form + " [%r25], [tile], 8192, [%r26];\nsent:\n";
    out.description = form;
  } else {
    const bool reduces = kind == 3;
    const std::string type = reduces ? reductions[seed / 4 % 12] : stores[seed / 4 % 8];
    const bool wide = type.ends_with("64");
    const uint64_t vector = reduces ? 1 : wide ? 1 + random() % 2 : uint64_t{1} << random() % 3;
    bytes = kThreads * static_cast<uint32_t>((wide ? 8 : 4) * vector);
    const char* suffix = vector == 1 ? "" : vector == 2 ? ".v2" : ".v4";
    const std::string operand = wide ? (vector == 1 ? "%q10" : "{%q10,%q11}")
                                     : (vector == 1   ? "%r6"
                                        : vector == 2 ? "{%r6,%r7}"
                                                      : "{%r6,%r7,%r8,%r9}");
    const std::string form =
        fmt::format("{}.async{}.shared::cluster.mbarrier::complete_tx::bytes{}.{}", reduces ? "red" : "st",
                    reduces ? ".relaxed.cluster" : ".weak", suffix, type);
    // Values from this CTA's tile, 16 bytes a thread.
    send = fmt::format(
        "add.u32 %r5, %r2, %r3; ld.shared.v4.b32 {{%r6,%r7,%r8,%r9}}, [%r5]; ld.shared.v2.b64 {{%q10,%q11}}, "
        "[%r5];\n"
        "bar.sync 0;\nmul.lo.u32 %r27, %r0, {}; add.u32 %r27, %r27, %r25;\n{} [%r27], {}, [%r26];\n",
        bytes / kThreads, form, operand);
    out.description = form;
  }
  if (out.description.find(".f") != std::string::npos && kind == 2) {
    // Registers of the right type.
    const bool wide = out.description.ends_with("64");
    const std::string type = wide ? "f64" : "f32";
    send = ".reg ." + type + " %f<4>;\n" + send;
    for (int n = 0; n < 4; ++n) {
      const std::string from = wide ? fmt::format("%q{}", 10 + n) : fmt::format("%r{}", 6 + n);
      const size_t at = send.rfind("[%r27], ");
      if (wide && n >= 2) break;
      const size_t found = send.find(from, at);
      if (found == std::string::npos) continue;
      send.replace(found, from.size(), fmt::format("%f{}", n));
      const size_t instruction = send.rfind("st.async");
      send.insert(instruction, fmt::format("mov.b{} %f{}, {};\n", wide ? 64 : 32, n, from));
    }
  }
  out.ptx =
      module(".param .u64 in, .param .u64 out",
             load_tile("in") + kClusterReady +
                 fmt::format("@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], {};\n", bytes) +
                 "xor.b32 %r24, %r21, 1; mov.u32 %r28, bar; add.u32 %r29, %r2, 8192;\n"
                 "mapa.shared::cluster.u32 %r25, %r29, %r24; mapa.shared::cluster.u32 %r26, %r28, %r24;\n" +
                 send + kWait + kClusterEnd + store_tile("out"),
             ".reqnctapercluster 2, 1, 1\n");
  launch::Launch& l = out.launch;
  l.entry = "probe";
  l.shape.grid = {4, 1, 1};
  l.shape.cluster = {2, 1, 1};
  l.shape.block = {kThreads, 1, 1};
  l.add_buffer({"in", random_bytes(size_t{4} * kTile, random), true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(size_t{4} * kTile), false, false, true});
  return out;
}

// Distributed shared memory by ordinary instructions: generic and shared::cluster loads, stores and atomics.
AsyncCase distributed(uint64_t seed) {
  Random random(seed);
  AsyncCase out;
  const uint32_t shift = static_cast<uint32_t>(random() % 4);
  out.ptx =
      module(".param .u64 in, .param .u64 out, .param .u32 shift",
             load_tile("in") + kClusterReady +
                 "ld.param.u32 %r22, [shift]; add.u32 %r24, %r21, %r22; and.b32 %r24, %r24, 3;\n"
                 "add.u32 %r5, %r2, %r3; mapa.shared::cluster.u32 %r25, %r5, %r24;\n"
                 "cvt.u64.u32 %q4, %r5; cvta.shared.u64 %q4, %q4; mapa.u64 %q5, %q4, %r24;\n"
                 "getctarank.shared::cluster.u32 %r26, %r25; getctarank.u64 %r27, %q5;\n"
                 "ld.shared::cluster.v4.b32 {%r6,%r7,%r8,%r9}, [%r25]; ld.b32 %r10, [%q5+4];\n"
                 "atom.shared::cluster.add.u32 %r11, [%r25+4096], %r0; atom.add.u32 %r12, [%q5+8192], %r6;\n"
                 "bar.sync 0;\n" +
                 kClusterEnd +
                 "st.shared::cluster.v4.b32 [%r25], {%r10,%r11,%r12,%r26}; st.b32 [%q5+12288], %r27;\n" +
                 kClusterEnd + store_tile("out"),
             ".explicitcluster\n");
  launch::Launch& l = out.launch;
  l.entry = "probe";
  l.shape.grid = {1, 8, 1};
  l.shape.cluster = {1, 4, 1};
  l.shape.block = {kThreads, 1, 1};
  l.shape.grid = {1, 4, 1};
  out.ptx.replace(out.ptx.find("mov.u32 %r1, %ctaid.x"), 21, "mov.u32 %r1, %ctaid.y");
  l.add_buffer({"in", random_bytes(size_t{4} * kTile, random), true, true, false});
  l.add_buffer({"out", std::vector<std::byte>(size_t{4} * kTile), false, false, true});
  l.add_scalar(shift);
  return out;
}

// copies

// One thread's random life of an mbarrier: what every test and every state says is kept.
AsyncCase barrier_program(uint64_t seed) {
  Random random(seed);
  std::string body = "@!%p0 bra done;\nld.param.u64 %q1, [out];\n.reg .b64 %s<64>;\n";
  uint32_t kept = 0;
  uint32_t states = 0;
  const auto keep = [&](const std::string& word) {
    body += fmt::format("st.global.b32 [%q1+{}], {};\n", 4 * kept++, word);
  };
  const auto expected = static_cast<uint32_t>(1 + random() % 6);
  uint32_t count = expected;  // of a phase
  uint32_t pending = expected;
  int64_t bytes = 0;
  uint32_t parity = 0;
  uint32_t last_flip_state = 0;  // states older than the phase before cannot be tested
  body += fmt::format("mbarrier.init.shared.b64 [bar], {};\n", expected);
  const auto flip = [&] {
    if (pending != 0 || bytes != 0) return;
    pending = count;
    parity ^= 1;
    last_flip_state = states;
  };
  uint32_t oldest = 0;
  for (int step = 0; step < 30 && states < 60; ++step) {
    const uint32_t n = 1 + static_cast<uint32_t>(random() % 3);
    const uint32_t before = last_flip_state;
    switch (random() % 8) {
      case 0:
      case 1:
        if (pending < n) break;
        body += fmt::format("mbarrier.arrive.shared.b64 %s{}, [bar], {};\n", states++, n);
        pending -= n;
        flip();
        break;
      case 2: {
        const uint32_t tx = 16 * static_cast<uint32_t>(random() % 9);
        if (pending < 1 || bytes + tx > 4000) break;
        body += fmt::format("mbarrier.arrive.expect_tx.shared.b64 %s{}, [bar], {};\n", states++, tx);
        bytes += tx;
        --pending;
        flip();
        break;
      }
      case 3:
        body += fmt::format("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], {};\n", 16 * n);
        bytes += 16 * n;
        flip();
        break;
      case 4: {
        const int64_t tx = bytes > 0 && random() % 2 == 0 ? bytes : 16 * n;
        body += fmt::format("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], {};\n", tx);
        bytes -= tx;
        flip();
        break;
      }
      case 5:
        if (pending < 1 || count < 2) break;
        body += fmt::format("mbarrier.arrive_drop.shared.b64 %s{}, [bar], 1;\n", states++);
        --pending;
        --count;
        flip();
        break;
      case 6:
        if (pending <= n) break;
        body += fmt::format("mbarrier.arrive.noComplete.shared.b64 %s{}, [bar], {};\n", states++, n);
        pending -= n;
        break;
      default: break;
    }
    if (last_flip_state != before) oldest = before;
    body += fmt::format("mbarrier.test_wait.parity.shared.b64 %p1, [bar], {}; selp.u32 %r5, 1, 0, %p1;\n",
                        random() % 2);
    keep("%r5");
    if (states > oldest) {
      const uint64_t s = oldest + random() % (states - oldest);
      body += fmt::format("mbarrier.test_wait.shared.b64 %p1, [bar], %s{}; selp.u32 %r5, 1, 0, %p1;\n", s);
      keep("%r5");
      body += fmt::format("mbarrier.pending_count.b64 %r5, %s{};\n", s);
      keep("%r5");
    }
  }
  body += "mbarrier.inval.shared.b64 [bar];\ndone:\n";
  AsyncCase out;
  out.ptx = module(".param .u64 out", body);
  out.launch.entry = "probe";
  out.launch.shape.block = {32, 1, 1};
  out.launch.add_buffer({"out", std::vector<std::byte>(4 * std::max(kept, 1u)), true, false, true});
  return out;
}

// cp.async of every size, with source sizes and ignored sources, waited for by groups or by an mbarrier.
AsyncCase small_copies(uint64_t seed) {
  Random random(seed);
  const uint64_t size = uint64_t{4} << random() % 3;
  const bool global_only = size == 16 && random() % 2 == 0;
  const uint64_t extra = random() % 3;
  const uint64_t ending = random() % 4;
  std::string copy =
      fmt::format("cp.async.{}.shared.global [%r5], [%q3], {}{};\n", global_only ? "cg" : "ca", size,
                  extra == 0   ? ""
                  : extra == 1 ? ", %r7"
                               : ", %p2");
  std::string body = fill_tile() + "@%p0 mbarrier.init.shared.b64 [bar], 128;\nbar.sync 0;\n" +
                     "ld.param.u64 %q1, [memory]; ld.param.u64 %q2, [places]; mul.wide.u32 %q4, %r0, 32; "
                     "add.u64 %q2, %q2, %q4;\n";
  for (int n = 0; n < 4; ++n) {
    body += fmt::format(
        "ld.global.b32 %r6, [%q2+{}]; and.b32 %r7, %r6, 31; min.u32 %r7, %r7, {};\nshr.u32 %r8, %r6, 8; "
        "and.b32 %r8, %r8, "
        "127; mul.wide.u32 %q3, %r8, {}; add.u64 %q3, %q3, %q1;\nsetp.gt.u32 %p2, %r7, 3;\n"
        "shl.b32 %r5, %r0, 6; add.u32 %r5, %r5, %r2; add.u32 %r5, %r5, {};\n",
        4 * n, size, size, n * 16);
    body += copy;
    if (ending == 0 && n == 1) body += "cp.async.commit_group;\n";
  }
  body += ending == 0   ? "cp.async.commit_group;\ncp.async.wait_group 1;\ncp.async.wait_group 0;\n"
          : ending == 1 ? "cp.async.wait_all;\n"
          : ending == 2
              ? "cp.async.mbarrier.arrive.noinc.shared.b64 [bar];\n"
              : "cp.async.mbarrier.arrive.shared.b64 [bar];\nmbarrier.arrive.shared.b64 _, [bar];\n";
  if (ending >= 2) body += kWait;
  AsyncCase out;
  out.ptx = module(".param .u64 memory, .param .u64 places, .param .u64 out",
                   body + "bar.sync 0;\n" + store_tile("out"));
  out.launch.entry = "probe";
  out.launch.shape.block = {kThreads, 1, 1};
  out.launch.add_buffer({"memory", random_bytes(4096, random), true, true, false});
  out.launch.add_buffer({"places", random_bytes(size_t{kThreads} * 32, random), true, true, false});
  out.launch.add_buffer({"out", std::vector<std::byte>(kTile), false, false, true});
  out.description = copy;
  return out;
}

AsyncCase matrices(uint64_t seed) {
  Random random(seed);
  const uint64_t count = uint64_t{1} << random() % 3;
  const bool transposed = random() % 2 == 0;
  const char* list = count == 1 ? "{%r6}" : count == 2 ? "{%r6,%r7}" : "{%r6,%r7,%r8,%r9}";
  const std::string tail =
      fmt::format(".sync.aligned.m8n8.x{}{}.shared.b16", count, transposed ? ".trans" : "");
  AsyncCase out;
  out.ptx =
      module(".param .u64 in, .param .u64 places, .param .u64 out",
             load_tile("in") +
                 "bar.sync 0;\nld.param.u64 %q4, [places]; mul.wide.u32 %q5, %r0, 4; add.u64 %q4, %q4, %q5;\n"
                 "ld.global.b32 %r10, [%q4]; and.b32 %r11, %r10, 0x1FF0; add.u32 %r11, %r11, %r2;\n"
                 // Rows of stmatrix do not overlap: 16 bytes a thread in the tile's second half.
                 "shl.b32 %r12, %r0, 4; add.u32 %r12, %r12, %r2; add.u32 %r12, %r12, 8192;\n"
                 "mov.b32 %r6, 0; mov.b32 %r7, 0; mov.b32 %r8, 0; mov.b32 %r9, 0;\n"
                 "ldmatrix" +
                 tail + " " + list + ", [%r11];\n" +
                 (random() % 2 == 0 ? "stmatrix" + tail + " [%r12], " + list + ";\n"
                                    : "st.shared.v4.b32 [%r12], {%r6,%r7,%r8,%r9};\n") +
                 "bar.sync 0;\n" + store_tile("out"));
  out.launch.entry = "probe";
  out.launch.shape.block = {kThreads, 1, 1};
  out.launch.add_buffer({"in", random_bytes(kTile, random), true, true, false});
  out.launch.add_buffer({"places", random_bytes(size_t{kThreads} * 4, random), true, true, false});
  out.launch.add_buffer({"out", std::vector<std::byte>(kTile), false, false, true});
  out.description = tail;
  return out;
}

}  // namespace

std::vector<AsyncFamily> async_families() {
  std::vector<AsyncFamily> out = tensor_families();
  for (const AsyncFamily& f :
       {AsyncFamily{"bulk load", bulk_load}, AsyncFamily{"bulk store", bulk_store},
        AsyncFamily{"bulk reduce", bulk_reduce}, AsyncFamily{"remote shared memory, asynchronous", remote},
        AsyncFamily{"remote shared memory, ordinary", distributed}, AsyncFamily{"mbarrier", barrier_program},
        AsyncFamily{"cp.async", small_copies}, AsyncFamily{"ldmatrix and stmatrix", matrices}})
    out.push_back(f);
  return out;
}

}  // namespace bitwell::probe
