// Memory that outlives launches.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>

#include "counter.h"

namespace bitwell::isa {
namespace {

TEST(Memory, GivesAddressesThatStayAndAreNotUsedAgain) {
  Context context;
  const Allocation a = context.allocate("a", 64), b = context.allocate("b", 64);
  const uint64_t value = 42;
  context.write(b, std::as_bytes(std::span(&value, 1)));
  context.free(a);
  const Allocation c = context.allocate("c", 64);
  EXPECT_NE(c.address, a.address);
  EXPECT_EQ(word(context, b), 42u);
  const ModuleHandle m = context.load(counter(0, 1, 0));
  try {
    context.launch(m, "tell", {}, {argument(a)});
    FAIL() << "a freed buffer was written";
  } catch (const machine::Fault& e) {
    EXPECT_NE(std::string(e.what()).find("freed"), std::string::npos) << e.what();
  }
}

TEST(Memory, RefusesWhatIsInNoBuffer) {
  Context context;
  const Allocation a = context.allocate("a", 64);
  std::array<std::byte, 8> eight{};
  EXPECT_NO_THROW(context.write(a, eight, 56));
  EXPECT_THROW(context.write(a, eight, 57), machine::InputError);
  EXPECT_THROW(context.read(a, eight, 57), machine::InputError);
  EXPECT_THROW(context.free({a.address + 1, 63, a.context}), machine::InputError);
  context.free(a);
  EXPECT_THROW(context.free(a), machine::InputError);
  EXPECT_THROW(context.read(a, eight), machine::InputError);
}

// Of what was freed the names of the last are known, and memory does not grow with all of them.
TEST(Memory, ForgetsWhatWasFreedLongAgo) {
  machine::Memory memory;
  const uint64_t first = memory.allocate("first", 4).base();
  memory.free(first);
  EXPECT_NE(memory.describe(first).find("'first, which was freed'"), std::string::npos);
  for (int i = 0; i < 10000; ++i) memory.free(memory.allocate("later", 4).base());
  EXPECT_EQ(memory.describe(first).find("first"), std::string::npos) << memory.describe(first);
  const uint64_t last = memory.allocate("last", 4).base();
  memory.free(last);
  EXPECT_NE(memory.describe(last).find("'last, which was freed'"), std::string::npos);
}

// What is freed at one address again and again counts once: it does not push out what was freed elsewhere.
TEST(Memory, RemembersOneAddressOnce) {
  machine::Memory memory;
  const uint64_t first = memory.allocate("first", 4).base();
  memory.free(first);
  alignas(8) std::array<std::byte, 8> host{};
  for (int i = 0; i < 10000; ++i) memory.free(memory.adopt("host's", host.data(), host.size()).base());
  EXPECT_NE(memory.describe(first).find("'first, which was freed'"), std::string::npos);
  EXPECT_NE(memory.describe(reinterpret_cast<uintptr_t>(host.data())).find("'host's, which was freed'"),
            std::string::npos);
}

#ifndef __SANITIZE_ADDRESS__  // whose allocator gives nothing back at once
// The blocks that malloc has given and not got back.
TEST(Memory, OfAContextStaysTheSameHoweverMuchComesAndGoes) {
  Context context;
  const auto lives = [&](int times) {
    for (int i = 0; i < times; ++i) {
      const ModuleHandle m = context.load(counter(1, 1, 1000));
      const Allocation out = context.allocate("a buffer with a long name", 4);
      const uint64_t texture = context.add_texture({});
      context.launch(m, "tell", {}, {argument(out)});
      context.remove_texture(texture);
      context.free(out);
      context.unload(m);
    }
    return mallinfo2().uordblks;
  };
  const size_t before = lives(10000);
  EXPECT_LT(lives(10000), before + 4096);
}
#endif

TEST(Memory, TexturesComeAndGo) {
  Context context;
  machine::Texture texture;
  texture.name = "one";
  const uint64_t one = context.add_texture(texture), two = context.add_texture(texture);
  EXPECT_NE(one, two);
  context.remove_texture(one);
  EXPECT_EQ(context.memory().texture(one), nullptr);
  ASSERT_NE(context.memory().texture(two), nullptr);
  EXPECT_THROW(context.remove_texture(one), machine::InputError);
  EXPECT_NE(context.add_texture(texture), one);
}

}  // namespace
}  // namespace bitwell::isa
