// A load or store of a whole warp that reaches a run of bytes is carried out at once: it leaves what lane
// after lane leaves, and is refused in the same words. With somebody who wants to hear of every access there
// is no short way, so that one kernel runs by both.
#include <gtest/gtest.h>

#include <functional>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

constexpr int kBytes = 1152;  // of the memory that is reached

// Where lane i reaches, from the first byte.
struct Shape {
  const char* name;
  std::function<int(int lane, int size)> at;
};
const Shape kShapes[] = {
    {"a run", [](int i, int size) { return 64 + i * size; }},
    {"a run from the first byte", [](int i, int size) { return i * size; }},
    {"a run to the last byte", [](int i, int size) { return kBytes - (32 - i) * size; }},
    {"a run one element beyond the last byte", [](int i, int size) { return kBytes - (31 - i) * size; }},
    {"a run from one element before the first byte", [](int i, int size) { return (i - 1) * size; }},
    {"a run off by a byte", [](int i, int size) { return 65 + i * size; }},
    {"a run off by half an element", [](int i, int size) { return 64 + size / 2 + i * size; }},
    {"a run downwards", [](int i, int size) { return 1024 - i * size % 1024; }},
    {"every other element", [](int i, int size) { return 2 * i * size % kBytes; }},
    {"elements that overlap", [](int i, int size) { return 64 + i * size / 2; }},
    {"a run whose last lane is elsewhere", [](int i, int size) { return i == 31 ? 0 : 64 + i * size; }},
    {"a run whose lane 9 is elsewhere", [](int i, int size) { return i == 9 ? 0 : 64 + i * size; }},
    {"a run whose first lane is elsewhere", [](int i, int size) { return i == 0 ? 0 : 64 + i * size; }},
    {"one element", [](int, int) { return 96; }},
    {"the last element", [](int, int size) { return kBytes - size; }},
    {"one element beyond the last byte", [](int, int) { return kBytes; }},
    {"one element off by a byte", [](int, int) { return 97; }},
    {"one element but for lane 17", [](int i, int size) { return i == 17 ? 96 + size : 96; }},
};

struct Access {
  bool loads;
  std::string space;  // as the instruction names it: "", ".global", ".shared", ".shared::cluster", "generic"
  bool in_shared;     // what it reaches
  std::string type;
  int bits, count;
  int held = std::max(16, bits);  // bits of a register
};

std::string letters(const char* prefix, int count) {
  std::string out;
  for (int j = 0; j < count; ++j) out += (j == 0 ? "" : ", ") + std::string(prefix) + std::to_string(j);
  return count == 1 ? out : "{" + out + "}";
}

struct Condition {
  const char* name;
  int hole = -1;              // the byte that is not written before
  bool but_one_lane = false;  // of the access
  int lacks = -1;             // the lane whose register holds nothing
  bool read_only = false;     // the buffer
  bool mbarrier = false;      // one stands in what is reached
};

// The words that come out, or why it stops.
std::string outcome(const Access& access, const Shape& shape, const Condition& when, bool watched) {
  const int size = access.bits / 8 * access.count;
  std::vector<int64_t> places(32);
  for (int i = 0; i < 32; ++i) places[static_cast<size_t>(i)] = shape.at(i, size);
  std::vector<std::byte> bytes(sizeof(int64_t) * places.size());
  std::memcpy(bytes.data(), places.data(), bytes.size());
  const std::string unit = access.bits == 128 ? "b128" : "u" + std::to_string(access.held);
  const std::string at = std::string(when.but_one_lane ? "@%p1 " : "");
  const std::string vector = access.count == 1 ? "" : ".v" + std::to_string(access.count);
  const std::string space = access.space == "generic" ? "" : access.space;
  std::string body;
  // %q2: the memory, as the instruction wants its address; %q3: as a generic address.
  if (access.in_shared)
    body += std::string("mov.u64 %q2, tile; cvta.shared.u64 %q3, %q2;\n") +
            (access.space == "generic" ? "mov.u64 %q2, %q3;\n" : "");
  else
    body += "mov.u64 %q2, %q1; mov.u64 %q3, %q1;\n";
  // Bytes that tell of their place, but for the hole.
  if (!when.read_only)
    body += "mov.u32 %r1, %r0; cvt.u64.u32 %q4, %r0; add.u64 %q4, %q4, %q3;\nFill: setp.eq.s32 %p2, %r1, " +
            std::to_string(when.hole) +
            "; mul.lo.u32 %r2, %r1, 37; add.u32 %r2, %r2, 129;\n"
            "@!%p2 st.u8 [%q4], %r2; add.u64 %q4, %q4, 32; add.u32 %r1, %r1, 32; setp.lt.u32 %p2, %r1, " +
            std::to_string(kBytes) + "; @%p2 bra Fill;\nbar.sync 0;\n";
  if (when.mbarrier) body += "@%p0 mbarrier.init.shared.b64 [tile+160], 1; bar.sync 0;\n";
  body += "add.u64 %q5, %q2, %q6;\n";
  if (access.loads) {
    body += at + "ld" + space + vector + access.type + " " + letters("%v", access.count) + ", [%q5];\n";
  } else {
    for (int j = 0; j < access.count; ++j) {
      body +=
          "mad.lo.u32 %r3, %r0, 2654435761, " + std::to_string(40503 * j + 77) + "; cvt.u64.u32 %q7, %r3;\n";
      const std::string to = "%v" + std::to_string(j);
      const std::string lane = when.lacks < 0 ? "" : "@!%p3 ";
      body += lane + (access.bits == 128 ? "mov.b128 " + to + ", {%q7, %q6};\n"
                                         : "cvt." + unit + ".u64 " + to + ", %q7;\n");
    }
    body += at + "st" + space + vector + access.type + " [%q5], " + letters("%v", access.count) + ";\n";
  }
  // What came of it: the registers, or the memory.
  if (access.loads)
    for (int j = 0; j < access.count; ++j)
      body += at + "st.global." + unit + " [%q0+" + std::to_string(1024 * j) + "], %v" + std::to_string(j) +
              ";\n";
  else if (access.in_shared && !when.mbarrier)
    body +=
        "bar.sync 0; mov.u32 %r1, %r0; cvt.u64.u32 %q7, %r0; add.u64 %q4, %q3, %q7; add.u64 %q5, %q0, %q7;\n"
        "Copy: ld.u8 %r2, [%q4]; st.u8 [%q5], %r2; add.u64 %q4, %q4, 32; add.u64 %q5, %q5, 32;\n"
        "add.u32 %r1, %r1, 32; setp.lt.u32 %p2, %r1, " +
        std::to_string(kBytes) + "; @%p2 bra Copy;\n";
  test::Kernel kernel{
      .parameters = ".param .u64 pin, .param .u64 pmemory, .param .u64 pout",
      .registers = ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %q<9>; .reg .b" +
                   std::to_string(access.held) + " %v<8>;",
      .shared = ".shared .align 128 .b8 tile[" + std::to_string(kBytes) + "];",
      .start =
          "ld.param.u64 %q6, [pin]; ld.param.u64 %q1, [pmemory]; ld.param.u64 %q0, [pout];\n"
          "mov.u32 %r0, %tid.x; setp.eq.u32 %p0, %r0, 0; setp.ne.u32 %p1, %r0, 5; setp.eq.s32 %p3, %r0, " +
          std::to_string(when.lacks) +
          ";\nmul.wide.u32 %q7, %r0, 8; add.u64 %q6, %q6, %q7; ld.global.u64 %q6, [%q6];\n"
          "mul.wide.u32 %q7, %r0, 32; " +
          (access.loads ? "add.u64 %q0, %q0, %q7;" : ""),
      .body = body,
      .buffers = {test::input(bytes),
                  {"memory", std::vector<std::byte>(kBytes), when.read_only, when.read_only, true},
                  test::output(8192)},
      .all_written = false};
  kernel.target = "sm_100a";
  kernel.buffers[1].partly_written = kernel.buffers[2].partly_written = true;
  if (watched) kernel.options.observers = {{.tell = [](const machine::Event&) {}, .accesses = true}};
  const test::Left left = kernel.run();
  std::string out = left.fault + "|";
  for (const run::Note& note : left.notes) out += note.text + "|";
  for (const launch::Buffer& buffer : left.buffers)
    out.append(reinterpret_cast<const char*>(buffer.bytes.data()), buffer.bytes.size());
  return out;
}

int compared(const Access& access, const Condition& when) {
  int held = 0;
  for (const Shape& shape : kShapes) {
    const std::string slow = outcome(access, shape, when, true), fast = outcome(access, shape, when, false);
    EXPECT_EQ(fast.substr(0, fast.find('|')), slow.substr(0, slow.find('|')));
    EXPECT_TRUE(fast == slow) << (access.loads ? "ld" : "st") << access.space << access.type << " v"
                              << access.count << (access.in_shared ? " in shared memory" : "") << ": "
                              << shape.name << ", " << when.name << "\n"
                              << slow.substr(0, slow.find('|'));
    held += slow.front() == '|' ? 1 : 0;
  }
  return held;
}

bool usual(const Access& access) {
  return access.space != "generic" &&
         (access.type == ".u8" || access.type == ".f32" || access.type == ".b128");
}

std::vector<Access> accesses() {
  std::vector<Access> out;
  struct Space {
    const char* name;
    bool shared;
  };
  for (const bool loads : {true, false})
    for (const auto& [space, shared] :
         {Space{".global", false}, Space{"generic", false}, Space{".shared", true}, Space{"generic", true},
          Space{".shared::cluster", true}})
      for (const auto& [type, bits, most] :
           {std::tuple{".u8", 8, 4}, std::tuple{".s8", 8, 2}, std::tuple{".b16", 16, 4},
            std::tuple{".s16", 16, 1}, std::tuple{".f32", 32, 4}, std::tuple{".b64", 64, 2},
            std::tuple{".b128", 128, 1}})
        for (int count = 1; count <= most; count *= 2)
          if (loads || type[1] != 's') out.push_back({loads, space, shared, type, bits, count});
  for (const auto& [type, bits, held] : {std::tuple{".s8", 8, 32}, std::tuple{".u8", 8, 64},
                                         std::tuple{".s16", 16, 64}, std::tuple{".s32", 32, 64}})
    out.push_back({true, ".global", false, type, bits, 2, held});
  for (const auto& [type, bits, held] : {std::tuple{".u8", 8, 32}, std::tuple{".u16", 16, 64}})
    out.push_back({false, ".global", false, type, bits, 2, held});
  for (const bool loads : {true, false}) {
    out.push_back({loads, ".global", false, ".b32", 32, 8});
    out.push_back({loads, ".global", false, ".b64", 64, 4});
  }
  return out;
}

TEST(RowAccess, ARunOfBytesIsWhatLaneAfterLaneReaches) {
  for (const Access& access : accesses()) {
    const int held = compared(access, {"all written"});
    EXPECT_GE(held, 8);
  }
}

TEST(RowAccess, ALaneThatStaysBehindIsLeftOut) {
  for (const Access& access : accesses())
    if (usual(access)) compared(access, {.name = "without lane 5", .but_one_lane = true});
}

TEST(RowAccess, BytesThatWereNeverWrittenAreFound) {
  for (const Access& access : accesses()) {
    if (!usual(access)) continue;
    for (const int hole : {64, 96, 64 + 32 * access.bits / 8 * access.count - 1, kBytes - 1})
      compared(access, {.name = "with a byte that was never written", .hole = hole});
  }
}

TEST(RowAccess, RegistersThatHoldNothingAreFound) {
  for (const Access& access : accesses())
    if (!access.loads && usual(access))
      for (const int lane : {0, 31})
        compared(access, {.name = "with a register that holds nothing", .lacks = lane});
}

TEST(RowAccess, AReadOnlyBufferIsNotWritten) {
  for (const Access& access : accesses())
    if (!access.in_shared) {
      EXPECT_EQ(compared(access, {.name = "read-only", .read_only = true}) != 0, access.loads);
    }
}

TEST(RowAccess, AnMbarrierIsNotTouched) {
  for (const Access& access : accesses())
    if (access.in_shared && access.count <= 2)
      compared(access, {.name = "over an mbarrier", .mbarrier = true});
}

}  // namespace
}  // namespace bitwell::isa
