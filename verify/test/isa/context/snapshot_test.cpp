// Contexts that begin as another was.
#include <gtest/gtest.h>

#include "counter.h"
#include "model/machine/memory/heap.h"

namespace bitwell::isa {
namespace {

// What the context says of a module, through its .global variable and its constant.
uint32_t told(Context& context, ModuleHandle module, const Allocation& out) {
  context.launch(module, "tell", {}, {argument(out)});
  return word(context, out);
}

// Variables, constants, buffers, textures and the heap are those of the snapshot, whatever became of them in
// the context it was taken of, and in others that began as it.
TEST(ContextSnapshot, BeginsAsTheOtherWas) {
  std::optional<Context> first(std::in_place, ContextOptions{4096});
  const ModuleHandle m = first->load(counter(5, 1, 100));
  const Allocation out = first->allocate("out", 4), constant = first->variable(m, "offset");
  const uint64_t texture = first->add_texture({});
  first->launch(m, "count", {}, {});
  const Context::Snapshot snapshot = first->snapshot();
  const uint32_t other = 300;
  const auto change = [&](Context& context) {
    EXPECT_EQ(told(context, m, out), 106u);
    context.launch(m, "count", {}, {});
    context.write(constant, std::as_bytes(std::span(&other, 1)));
    context.remove_texture(texture);
    context.memory().heap().allocate(64, {});
    EXPECT_EQ(told(context, m, out), 307u);
    EXPECT_EQ(context.memory().heap().left().objects, 1u);
  };
  change(*first);
  for (int round = 0; round < 3; ++round) {
    Context again(snapshot);
    EXPECT_EQ(again.memory().heap().limit, 4096u);
    EXPECT_EQ(again.memory().heap().left().objects, 0u);
    EXPECT_NE(again.memory().texture(texture), nullptr);
    EXPECT_EQ(word(again, out), 0u);
    change(again);
    first.reset();  // it needs the snapshot alone
  }
}

// What is loaded and allocated behind it stands where it stood in the other; modules that were unloaded, or
// loaded twice, are where they would have been.
TEST(ContextSnapshot, GoesOnAsTheOtherWould) {
  Context first;
  const ModuleHandle twice = first.load(counter(1, 1, 10)), gone = first.load(counter(2, 1, 20));
  first.load(counter(1, 1, 10));
  first.unload(gone);
  const Context::Snapshot snapshot = first.snapshot();
  const auto go_on = [&](Context& context) {
    std::vector<uint64_t> addresses;
    const auto stands = [&](ModuleHandle m) {
      addresses.push_back(context.variable(m, "total").address);
      addresses.push_back(context.variable(m, "offset").address);
    };
    stands(context.load(counter(2, 1, 20)));
    const ModuleHandle fresh = context.load(counter(3, 1, 30));
    stands(fresh);
    context.unload(twice);
    stands(context.load(counter(1, 1, 10)));
    stands(context.load(counter(4, 1, 40)));
    const Allocation out = context.allocate("out", 4);
    addresses.push_back(out.address);
    addresses.push_back(context.add_texture({}));
    EXPECT_EQ(told(context, fresh, out), 33u);
    EXPECT_THROW(context.module(gone), Misuse);
    return addresses;
  };
  const std::vector<uint64_t> wanted = go_on(first);
  Context second(snapshot), third(second.snapshot());
  EXPECT_EQ(go_on(second), wanted);
  EXPECT_EQ(go_on(third), wanted);
}

// A handle is one of those contexts that began behind it, and of no other.
TEST(ContextSnapshot, KnowsTheHandlesOfBefore) {
  Context first;
  const ModuleHandle before = first.load(counter(1, 1, 10));
  Context second(first.snapshot());
  const ModuleHandle behind = first.load(counter(2, 1, 20)), own = second.load(counter(3, 1, 30));
  EXPECT_EQ(first.module(before), second.module(before));
  const auto refused = [](const Context& context, ModuleHandle module) {
    try {
      context.module(module);
    } catch (const Misuse& e) {
      return e.kind == Misuse::Kind::other_context;
    }
    return false;
  };
  EXPECT_TRUE(refused(second, behind));
  EXPECT_TRUE(refused(first, own));
  EXPECT_TRUE(refused(Context(), before));
  second.unload(before);
  EXPECT_NO_THROW(first.module(before));
  EXPECT_THROW(second.module(before), Misuse);
}

}  // namespace
}  // namespace bitwell::isa
