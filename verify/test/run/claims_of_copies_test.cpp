// What copies reach in global memory counts as what lanes reach there: whether two clusters meet is decided
// by the bytes of their copies, to the last one.
#include <gtest/gtest.h>

#include "../kernel.h"
#include "model/run/cluster.h"
#include "model/run/parallel/parallel.h"
#include "verify/launch/placed.h"

namespace bitwell::run {
namespace {

constexpr uint32_t kBytes = 256;

class Beside final : public Parallel {
 public:
  using Parallel::Parallel;
  bool goes_on(uint64_t) const override { return true; }
};

// CTA 0 does what `first` says, CTA 1 `second`. They find 'words' (1024 bytes) at %a0 and as a tensor at %a1,
// `tile` of 256 written bytes, `bar` for one arrival; %r0 is the thread, %p0 says that it is the first,
// and %r1 is four times its number.
test::Kernel kernel(const std::string& first, const std::string& second) {
  test::Kernel k;
  k.parameters = ".param .u64 words, .param .align 128 .b8 map[128]";
  k.registers = ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %a<8>;\n";
  k.shared = ".shared .align 128 .b8 tile[256];\n.shared .align 8 .b64 bar;\n";
  k.start =
      "ld.param.u64 %a0, [words];\nmov.b64 %a1, map;\ncvta.param.u64 %a1, %a1;\nmov.u32 %r0, %tid.x;\n"
      "setp.eq.u32 %p0, %r0, 0;\nshl.b32 %r1, %r0, 3;\nmov.u32 %r2, tile;\nadd.u32 %r2, %r2, %r1;\n"
      "cvt.u64.u32 %a2, %r1;\nadd.u64 %a2, %a2, %a0;\nst.shared.v2.u32 [%r2], {%r0, %r0};\n"
      "@%p0 mbarrier.init.shared.b64 [bar], 1;\nfence.proxy.async;\nbar.sync 0;\n"
      "mov.u32 %r3, %ctaid.x;\nsetp.eq.u32 %p1, %r3, 1;\n@%p1 bra second;\n";
  k.body = first + "bra end;\nsecond:\n" + second + "end:\n";
  k.shape.grid = {2, 1, 1};
  k.buffers = {{"words", std::vector<std::byte>(4 * kBytes), true, false, true}};
  return k;
}

// Whether they would meet on two host threads.
bool meet(const std::string& first, const std::string& second) {
  const test::Kernel k = kernel(first, second);
  launch::Launch l = k.launch();
  machine::TensorMap map;
  map.type = machine::TensorType::u32;
  map.rank = 1;
  map.dims[0] = kBytes;
  map.box[0] = kBytes / 4;
  l.add_tensor_map(0, map);
  const std::shared_ptr<const isa::Program> program = k.program();
  machine::Memory memory;
  machine::Region constants = place_variables(*program, memory);
  const launch::Placed placed(memory, l);
  machine::Region parameters("the parameter block", 0, program->parameter_size, true);
  const isa::Function& entry = program->functions[static_cast<size_t>(program->entry)];
  const std::vector<std::vector<std::byte>> arguments = placed.arguments(l.arguments);
  for (size_t i = 0; i < arguments.size(); ++i)
    std::memcpy(parameters.raw_bytes() + entry.params[i].offset, arguments[i].data(), arguments[i].size());
  const Shape shape = full_shape(*program, k.shape);
  const Unordered unordered = unordered_atomics(*program);
  Parallel::Locks locks;
  machine::Before before(memory);
  std::vector<std::unique_ptr<machine::Claims>> claims;
  for (uint32_t i = 0; i < 2; ++i) {
    claims.push_back(std::make_unique<machine::Claims>(before));
    const Beside beside(*claims.back(), unordered, locks);
    Flight flight;
    Grid grid{*program, shape, Options(), memory, constants, machine::Region(parameters.save()), flight};
    grid.parallel = &beside;
    Cluster cluster(grid, {i, 0, 0});
    EXPECT_EQ(cluster.run(true), Cluster::Standing::ended);
  }
  return machine::Claims::meeting(claims, before).region != nullptr;
}

// An access of 256 bytes from a place on.
struct Copy {
  std::string name, text;  // $ stands for the place in bytes, # for it in words
  bool reads;
};
const std::string kArrive = "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;\n",
                  kWait = "wait$: mbarrier.try_wait.parity.shared.b64 %p2, [bar], 0;\n@!%p2 bra wait$;\n",
                  kGroup = "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n";

std::vector<Copy> copies() {
  return {{"ld", "ld.global.v2.u32 {%r4, %r5}, [%a2+$];\n", true},
          {"st", "st.global.v2.u32 [%a2+$], {%r0, %r0};\n", false},
          {"cp.async", "cp.async.ca.shared.global [%r2], [%a2+$], 8;\ncp.async.wait_all;\n", true},
          {"bulk load",
           kArrive +
               "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%a0+$], 256, "
               "[bar];\n" +
               kWait,
           true},
          {"bulk store", "@%p0 cp.async.bulk.global.shared::cta.bulk_group [%a0+$], [tile], 256;\n" + kGroup,
           false},
          {"bulk reduction",
           "@%p0 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%a0+$], [tile], 256;\n" + kGroup,
           false},
          {"tensor load",
           kArrive +
               "mov.u32 %r6, #;\n@%p0 "
               "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[tile], [%a1, {%r6}], [bar];\n" +
               kWait,
           true},
          {"tensor store",
           "mov.u32 %r6, #;\n@%p0 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%a1, {%r6}], "
           "[tile];\n" +
               kGroup,
           false},
          {"tensor reduction",
           "mov.u32 %r6, #;\n@%p0 cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group "
           "[%a1, {%r6}], "
           "[tile];\n" +
               kGroup,
           false}};
}

std::string at(const Copy& copy, uint32_t place) {
  std::string out;
  for (const char c : copy.text)
    out += c == '$' ? std::to_string(place) : c == '#' ? std::to_string(place / 4) : std::string(1, c);
  return out;
}

TEST(ClaimsOfCopies, MeetWhereTheirBytesDo) {
  const std::vector<Copy> all = copies();
  for (const Copy& a : all)
    for (const Copy& b : all) {
      const std::string what = a.name + ", " + b.name;
      // The last 16 bytes of one are the first of the other; or they lie side by side.
      EXPECT_EQ(meet(at(a, 256), at(b, 496)), !a.reads || !b.reads) << what;
      EXPECT_FALSE(meet(at(a, 256), at(b, 512))) << what;
    }
}

}  // namespace
}  // namespace bitwell::run
