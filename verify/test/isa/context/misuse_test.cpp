// What is refused, and that the context goes on as it was.
#include <gtest/gtest.h>

#include <thread>

#include "counter.h"

namespace bitwell::isa {
namespace {

// A context in the middle of its life.
class MisuseTest : public ::testing::Test {
 protected:
  Context context;
  ModuleHandle module = context.load(counter(1, 1, 1000));
  Allocation out = context.allocate("out", 4);
  uint32_t counted = 1;

  template <class Call>
  void refused(Misuse::Kind kind, const std::string& word_of_it, Call call) {
    try {
      call();
      ADD_FAILURE() << "taken";
    } catch (const Misuse& e) {
      EXPECT_EQ(e.kind, kind) << e.what();
      EXPECT_NE(std::string(e.what()).find(word_of_it), std::string::npos) << e.what();
    }
    still_usable();
  }
  void still_usable() {
    context.launch(module, "count", {}, {});
    ++counted;
    context.launch(module, "tell", {}, {argument(out)});
    EXPECT_EQ(word(context, out), 1000 + counted);
  }
};

TEST_F(MisuseTest, AHandleThatWasNeverGiven) {
  const auto kind = Misuse::Kind::unknown_module;
  refused(kind, "no such handle", [&] { context.launch({}, "count", {}, {}); });
  refused(kind, "module 7", [&] { context.launch({module.context, 7}, "count", {}, {}); });
  refused(kind, "module 7", [&] { context.unload({module.context, 7}); });
  refused(kind, "module 7", [&] { context.variable({module.context, 7}, "total"); });
}

TEST_F(MisuseTest, AModuleThatWasUnloaded) {
  const ModuleHandle gone = context.load(counter(1, 1, 1));
  context.launch(gone, "count", {}, {});
  context.unload(gone);
  const auto kind = Misuse::Kind::unloaded_module;
  refused(kind, "was unloaded", [&] { context.launch(gone, "count", {}, {}); });
  refused(kind, "was unloaded", [&] { context.unload(gone); });
  refused(kind, "was unloaded", [&] { context.variable(gone, "total"); });
  context.load(counter(1, 1, 1));  // the handle of another
  refused(kind, "was unloaded", [&] { context.launch(gone, "count", {}, {}); });
}

TEST_F(MisuseTest, WhatIsOfAnotherContext) {
  Context other;
  const Allocation theirs = other.allocate("theirs", 4);
  const ModuleHandle their_module = other.load(counter(1, 1, 1));
  const auto kind = Misuse::Kind::other_context;
  std::array<std::byte, 4> four{};
  refused(kind, "another context", [&] { context.free(theirs); });
  refused(kind, "another context", [&] { context.write(theirs, four); });
  refused(kind, "another context", [&] { context.read(theirs, four); });
  refused(kind, "argument 0", [&] { context.launch(module, "tell", {}, {argument(theirs)}); });
  refused(kind, "another context", [&] { context.launch(their_module, "count", {}, {}); });
  EXPECT_NO_THROW(other.write(theirs, four));
}

TEST_F(MisuseTest, ACallFromInsideALaunch) {
  run::Options options;
  std::function<void()> inside;
  bool reads = false;
  const Allocation total = context.variable(module, "total");
  options.progress = [&](const run::Progress&) {
    reads = word(context, total) >= counted;  // looking is allowed
    inside();
  };
  const Allocation mine = context.allocate("mine", 4);
  std::array<std::byte, 4> four{};
  const std::vector<std::function<void()>> calls{[&] { context.launch(module, "count", {}, {}); },
                                                 [&] { context.load(counter(1, 1, 1)); },
                                                 [&] { context.unload(module); },
                                                 [&] { context.allocate("more", 4); },
                                                 [&] { context.free(mine); },
                                                 [&] { context.write(mine, four); }};
  for (const auto& call : calls) {
    inside = call;
    ++counted;  // the launch itself had ended when it told of its progress
    refused(Misuse::Kind::in_callback, "from inside a launch",
            [&] { context.launch(module, "count", {}, {}, options); });
    EXPECT_TRUE(reads);
  }
}

TEST_F(MisuseTest, AnExceptionOfACallback) {
  struct Stop {};
  const auto launch_with = [&](std::function<void()> thrower) {
    run::Options options;
    options.progress = [&](const run::Progress&) { thrower(); };
    ++counted;
    context.launch(module, "count", {}, {}, options);
  };
  try {
    launch_with([] { throw std::runtime_error("the user stops it"); });
    FAIL() << "lost";
  } catch (const CallbackError& e) {
    EXPECT_NE(std::string(e.what()).find("the user stops it"), std::string::npos) << e.what();
    EXPECT_THROW(std::rethrow_exception(e.cause), std::runtime_error);
  }
  still_usable();
  EXPECT_THROW(launch_with([] { throw Stop(); }), CallbackError);
  still_usable();
  run::Options options;
  machine::Observer observer;
  observer.tell = [](const machine::Event&) { throw std::runtime_error("in an observer"); };
  observer.accesses = true;
  options.observers.push_back(observer);
  EXPECT_THROW(context.launch(module, "count", {}, {}, options), CallbackError);
  still_usable();
}

TEST_F(MisuseTest, AFaultLeavesItUsableToo) {
  EXPECT_THROW(context.launch(module, "tell", {}, {argument(uint64_t{16})}), machine::Fault);
  still_usable();
  EXPECT_THROW(context.launch(module, "tell", {}, {}), machine::InputError);
  still_usable();
  EXPECT_THROW(context.launch(module, "nobody", {}, {}), machine::InputError);
  still_usable();
}

TEST_F(MisuseTest, ThreadsTakeTheirTurns) {
  constexpr int kThreads = 4, kEach = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        const ModuleHandle own = context.load(counter(3, 1, 1));
        context.launch(module, "count", {}, {});
        context.launch(own, "count", {}, {});
        EXPECT_EQ(word(context, context.variable(own, "total")), 4u);
        context.unload(own);
      }
    });
  for (std::thread& t : threads) t.join();
  counted += kThreads * kEach;
  still_usable();
}

}  // namespace
}  // namespace bitwell::isa
