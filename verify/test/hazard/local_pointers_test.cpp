// Which instructions hand addresses of local variables on, and which get theirs from others.
#include "model/hazard/flow/local_pointers.h"

#include <gtest/gtest.h>

#include "model/isa/compile/compile.h"
#include "model/ptx/parse.h"

namespace bitwell::hazard {
namespace {

constexpr int kFirst = 20;  // line of the body's first instruction

// %a0 is the address of `mine`, %a1 that of `other`, %a2 that of a word of global memory, %r0 no constant.
Objects objects(const std::string& body, const std::string& variables = "") {
  const std::string text = R"(.version 8.7
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .b32 %r<16>;
.reg .b64 %a<16>;
.reg .pred %q<2>;
.local .align 8 .b8 mine[64];
.local .align 8 .b8 other[64];
.shared .align 8 .b8 one[64];
mov.u32 %r0, %tid.x;
mov.u64 %a0, mine;
cvta.local.u64 %a0, %a0;
mov.u64 %a1, other;
cvta.local.u64 %a1, %a1;
ld.param.u64 %a2, [p];
cvta.to.global.u64 %a2, %a2;
)" + variables + "mov.u32 %r1, 3;\n" +
                           body + "\nret;\n}\n";
  using Space = Object::Space;
  return Objects(
      isa::compile(ptx::parse(text), "k"),
      {{"one", 0, 64, Space::shared}, {"mine", 0, 64, Space::local}, {"other", 64, 64, Space::local}});
}
using Pointers = std::shared_ptr<const LocalPointers>;
Pointers pointers_of(const std::string& body) { return objects(body).local_pointers(); }

// Of the word that a store of the first line writes.
std::optional<LocalPointers::Source> stored(const std::string& made,
                                            const std::string& store = "st.global.u64 [%a2], %a3;") {
  const Pointers p = pointers_of(store + "\n" + made + "\n" + store);
  if (p->none()) return std::nullopt;
  const auto* access =
      p->access_at(kFirst + 1 + static_cast<int>(std::count(made.begin(), made.end(), '\n')) + 1);
  return access == nullptr || access->stored.size() != 1 ? std::nullopt : std::optional(access->stored[0]);
}

TEST(LocalPointers, AreOwnWhereTheyAreMadeOfAVariable) {
  for (const auto& [made, object] : {std::pair{"mov.u64 %a3, %a0;", 1u},
                                     {"add.u64 %a3, %a1, 8;", 2u},
                                     {"mad.wide.u32 %a3, %r0, 4, %a1;", 2u}}) {
    const auto source = stored(made);
    ASSERT_TRUE(source) << made;
    EXPECT_TRUE(source->own);
    EXPECT_EQ(source->object, object) << made;
    EXPECT_TRUE(source->received.empty());
  }
  const auto either = stored("selp.b64 %a3, %a0, %a1, %q0;");
  ASSERT_TRUE(either);
  EXPECT_TRUE(either->own);
  EXPECT_FALSE(either->object);
  const auto loaded = stored("st.global.u64 [%a2], %a0;\nld.global.u64 %a3, [%a2+8];");
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(loaded->own);
  EXPECT_EQ(loaded->received.size(), 1u);
}

// Where no address leaves its thread there is nothing to follow.
TEST(LocalPointers, AreThereWhereTheyCanLeave) {
  for (const char* leaves :
       {"st.global.u64 [%a2], %a0;", "st.shared.b64 [one], %a1;", "st.s64 [%a2], %a0;",
        "st.global.v2.u64 [%a2], {%a3, %a0};", "atom.global.exch.b64 %a3, [%a2], %a0;",
        "mov.b64 {%r2, %r3}, %a0;\nshfl.sync.idx.b32 %r4, %r2, 0, 31, -1;\nld.global.u64 %a4, [%a2];"})
    EXPECT_FALSE(pointers_of(leaves)->none()) << leaves;
  for (const char* stays : {"", "st.u32 [%a0], 1;", "ld.u64 %a3, [%a1];", "st.global.u64 [%a2], %a2;",
                            "ld.global.u64 %a3, [%a2];\nst.u64 [%a3], %a2;",
                            "mov.u64 %a3, one;\nst.global.u64 [%a2], %a3;", "st.global.u32 [%a2], %r0;",
                            "atom.global.add.u64 %a3, [%a2], %a0;", "atom.global.exch.b32 %r2, [%a2], %r0;",
                            "shfl.sync.idx.b32 %r4, %r0, 0, 31, -1;\nld.global.u64 %a4, [%a2];"})
    EXPECT_TRUE(pointers_of(stays)->none()) << stays;
  // Of a kernel whose only variable is local.
  const isa::Program program = isa::compile(
      ptx::parse(
          ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b64 "
          "%a<4>;\n.local .align 8 .b8 mine[64];\n"
          "mov.u64 %a0, mine;\nld.param.u64 %a2, [p];\nst.global.u64 [%a2], %a0;\nret;\n}\n"),
      "k");
  EXPECT_FALSE(Objects(program, {{"mine", 0, 64, Object::Space::local}}).local_pointers()->none());
}

TEST(LocalPointers, AreGotByWordsThatAreLoaded) {
  const std::string give = "st.global.u64 [%a2], %a0;\n";
  for (const auto& [load, words] : {std::pair{"ld.global.u64 %a3, [%a2];", 1u},
                                    {"ld.b64 %a3, [%a2];", 1u},
                                    {"ld.global.s64 %a3, [%a2];", 1u},
                                    {"ld.volatile.global.v2.u64 {%a3, %a4}, [%a2];", 2u},
                                    {"atom.global.exch.b64 %a3, [%a2], %a5;", 1u},
                                    {"atom.global.cas.b64 %a3, [%a2], %a5, %a6;", 1u},
                                    {"atom.global.add.u64 %a3, [%a2], %a5;", 1u},
                                    {"ld.global.u32 %r2, [%a2];", 0u},
                                    {"atom.global.add.u32 %r2, [%a2], 1;", 0u},
                                    {"st.global.u64 [%a2], %a3;", 0u}}) {
    const Pointers p = pointers_of(give + load + std::string("\nst.u32 [%a3], 1;"));
    const auto* access = p->access_at(kFirst + 1);
    EXPECT_EQ(access == nullptr ? 0 : access->loaded.size(), words) << load;
    const auto* through = p->access_at(kFirst + 2);
    ASSERT_EQ(through != nullptr, words != 0) << load;
    if (words == 0) continue;
    EXPECT_FALSE(through->address.own);
    ASSERT_EQ(through->address.received.size(), 1u);
    EXPECT_EQ(through->address.received[0], access->loaded[0]);
    EXPECT_EQ(p->shuffle_of(access->loaded[0]), nullptr);
  }
  // What an exchange puts there it stores; what a sum or a compare-and-swap takes, it does not.
  EXPECT_EQ(pointers_of(give + "atom.global.exch.b64 %a3, [%a2], %a1;")->access_at(kFirst + 1)->stored.size(),
            1u);
  for (const char* other : {"atom.global.add.u64 %a3, [%a2], %a1;", "atom.global.min.u64 %a3, [%a2], %a1;"})
    EXPECT_TRUE(pointers_of(give + other)->access_at(kFirst + 1)->stored.empty()) << other;
  EXPECT_EQ(pointers_of("st.global.v2.u64 [%a2], {%a1, %a5};")->access_at(kFirst)->stored.size(), 2u);
  // Of two of a line neither is known.
  EXPECT_EQ(pointers_of(give + "st.global.u64 [%a2], %a1; ld.global.u64 %a4, [%a2];")->access_at(kFirst + 1),
            nullptr);
  EXPECT_EQ(
      pointers_of(give + "st.global.u64 [%a2], %a1; st.global.u64 [%a2+8], %a0; ld.global.u64 %a4, [%a2];")
          ->access_at(kFirst + 1),
      nullptr);
}

// From another lane, where the lane is a number.
TEST(LocalPointers, AreGotFromLanes) {
  const std::string halves = "mov.b64 {%r2, %r3}, %a0;\n";
  for (const auto& [text, mode, lane, clamp] :
       {std::tuple{"shfl.sync.idx.b32 %r4, %r2, 5, 31, -1;", 'i', 5u, 31u},
        {"shfl.sync.up.b32 %r4, %r2, 1, 0, -1;", 'u', 1u, 0u},
        {"shfl.sync.down.b32 %r4|%q0, %r2, 2, 7199, -1;", 'd', 2u, 7199u},
        {"shfl.sync.bfly.b32 %r4, %r2, 16, 31, -1;", 'b', 16u, 31u},
        {"shfl.sync.idx.b32 %r4, %r2, %r1, 31, -1;", 'i', 3u, 31u}}) {
    const Pointers p =
        pointers_of(halves + text + std::string("\nmov.b64 %a3, {%r4, %r3};\nst.u32 [%a3], 1;"));
    const auto* through = p->access_at(kFirst + 3);
    ASSERT_NE(through, nullptr) << text;
    const LocalPointers::Shuffle* s = nullptr;
    for (const size_t word : through->address.received)
      if (p->shuffle_of(word) != nullptr) s = p->shuffle_of(word);
    ASSERT_NE(s, nullptr) << text;
    EXPECT_EQ(s->line, kFirst + 1);
    EXPECT_EQ(s->mode, mode);
    EXPECT_EQ(s->lane, lane);
    EXPECT_EQ(s->clamp, clamp);
    EXPECT_TRUE(s->source.own);
    EXPECT_EQ(s->source.object, 1u);
  }
  for (const char* unknown : {"shfl.sync.idx.b32 %r4, %r2, %r0, 31, -1;",
                              "shfl.sync.idx.b32 %r4, %r2, 5, %r0, -1;", "lop3.b32 %r4, %r2, 5, 31, 192;"}) {
    const Pointers p = pointers_of("st.global.u64 [%a2], %a1;\n" + halves + unknown +
                                   "\nmov.b64 %a3, {%r4, %r4};\nst.u32 [%a3], 1;");
    const auto* through = p->access_at(kFirst + 4);
    EXPECT_TRUE(through == nullptr || through->address.received.empty()) << unknown;
  }
  // A number that a branch may have replaced is none.
  const Pointers p =
      pointers_of("st.global.u64 [%a2], %a1;\n" + halves +
                  "@%q0 mov.u32 %r1, %r0;\nshfl.sync.idx.b32 %r4, %r2, %r1, 31, -1;\nmov.b64 %a3, "
                  "{%r4, %r4};\nst.u32 [%a3], 1;");
  EXPECT_TRUE(p->access_at(kFirst + 5) == nullptr || p->access_at(kFirst + 5)->address.received.empty());
}

// Instructions that reach the bytes of a variable, and calls that reach the heap.
TEST(Objects, AreThoseWhoseBytesAreReached) {
  const auto named = [](const Object* o) { return o == nullptr ? "" : o->name; };
  for (const auto& [text, reads, writes] :
       {std::tuple{"ld.shared.u32 %r2, [one];", "one", ""},
        {"st.shared.u32 [one], %r2;", "", "one"},
        {"atom.shared.add.u32 %r2, [one], 1;", "one", "one"},
        {"cp.async.cg.shared.global [one], [%a2], 16;", "", "one"},
        {"cp.async.bulk.global.shared::cta.bulk_group [%a2], [one], 16;", "one", ""},
        {"mbarrier.init.shared.b64 [one], 1;", "", ""},
        {"mbarrier.arrive.shared.b64 _, [one];", "", ""},
        {"cp.async.mbarrier.arrive.noinc.shared.b64 [one];", "", ""},
        {"prefetch.local.L1 [%a0];", "", ""},
        {"bar.sync 0;", "", ""},
        {"ld.shared.u32 %r2, [one]; ld.local.u32 %r3, [mine];", "", ""}}) {
    const Objects o = objects(text);
    EXPECT_STREQ(named(o.read_at(kFirst)).c_str(), reads) << text;
    EXPECT_STREQ(named(o.written_at(kFirst)).c_str(), writes) << text;
  }
}
TEST(Objects, HeapCallsAreThoseOfNobodysOwn) {
  const std::string declared =
      ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
      ".func (.param .b64 r) helper(.param .b64 free0) { ret; }\n";
  const auto heap = [&](const std::string& call, const std::string& functions) {
    const std::string text = ".version 8.7\n.target sm_90a\n.address_size 64\n" + functions +
                             ".visible .entry k()\n{\n.reg .b64 %a<4>;\n.param .b64 r; .param .b64 n;\n{\n";
    const auto line = static_cast<int>(std::count(text.begin(), text.end(), '\n')) + 1;
    const Objects o(isa::compile(ptx::parse(text + call + "\n}\nret;\n}\n"), "k"), {});
    EXPECT_EQ(o.heap_at(line + 1), Objects::Heap::none);
    EXPECT_EQ(o.heap_at(line - 1), Objects::Heap::none);
    EXPECT_EQ(o.heap_at(line + 1000), Objects::Heap::none);
    return o.heap_at(line);
  };
  EXPECT_EQ(heap("call.uni (r), malloc, (n);", declared), Objects::Heap::malloc);
  EXPECT_EQ(heap("call.uni free, (n);", declared), Objects::Heap::free);
  EXPECT_EQ(heap("call.uni (r), helper, (n);", declared), Objects::Heap::none);
  const std::string own =
      ".func (.param .b64 r) malloc(.param .b64 n) { ret; }\n.extern .func free(.param .b64 p);\n";
  EXPECT_EQ(heap("call.uni (r), malloc, (n);", own), Objects::Heap::none);
  EXPECT_EQ(heap("call.uni free, (n);", own), Objects::Heap::free);  // the driver's, as it runs
}

}  // namespace
}  // namespace bitwell::hazard
