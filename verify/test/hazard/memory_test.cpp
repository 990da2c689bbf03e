// The race check's memory on named kernels, against the bytes that they touch: both counted here, the first
// by every allocation that is made while the check is told of something.
#include "model/machine/memory/memory.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <bitset>
#include <cstdlib>
#include <map>
#include <new>

#include "verify/capture/captures.h"
#include "verify/yardsticks/yardsticks.h"

namespace {

thread_local bool counting = false;
thread_local size_t live = 0;

void* allocated(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  if (counting) live += malloc_usable_size(block);
  return block;
}
void freed(void* block) {
  if (counting && block != nullptr) live -= malloc_usable_size(block);
  std::free(block);
}

}  // namespace

void* operator new(size_t bytes) { return allocated(std::malloc(bytes)); }
void* operator new(size_t bytes, std::align_val_t alignment) {
  return allocated(std::aligned_alloc(static_cast<size_t>(alignment), bytes));
}
void operator delete(void* block) noexcept { freed(block); }
void operator delete(void* block, size_t) noexcept { freed(block); }
void operator delete(void* block, std::align_val_t) noexcept { freed(block); }
void operator delete(void* block, size_t, std::align_val_t) noexcept { freed(block); }

namespace bitwell::hazard {
namespace {

using machine::Access;
using machine::Synchronisation;

// Distinct bytes that were reached: of global memory so far, and of the memories of clusters that still run.
class Touched {
 public:
  void tell(const machine::Event& event) {
    if (const auto* turns = std::get_if<machine::ByTurns>(&event.what)) {
      for (const Access& a : turns->of) tell({event.first_cta, a});
    } else if (const auto* a = std::get_if<Access>(&event.what)) {
      if (a->mbarrier) return;  // has no cells
      Bytes& own = clusters_[event.first_cta];
      if (a->rows != 0) return tensor(*a, own);
      for (uint32_t lane = 0; lane < a->addresses.size(); ++lane)
        if (a->operation != 0 || (a->lanes >> lane & 1) != 0) reach(a->addresses[lane], a->bytes, own);
    } else if (const auto* s = std::get_if<Synchronisation>(&event.what);
               s != nullptr && s->kind == Synchronisation::Kind::cluster_ended) {
      clusters_.erase(event.first_cta);
    }
    most_ = std::max(most_, count());
  }
  size_t most() const { return most_; }

 private:
  static constexpr uint64_t kPage = 4096;
  struct Bytes {
    std::map<uint64_t, std::bitset<kPage>> pages;
    size_t count = 0;
    void add(uint64_t address) {
      auto bit = pages[address / kPage][address % kPage];
      count += bit ? 0 : 1;
      bit = true;
    }
  };
  void reach(uint64_t address, uint64_t bytes, Bytes& own) {
    const bool shared = address - machine::kSharedWindow < machine::kWindowSize;
    if (!shared && address < machine::kModuleGlobals) return;  // local memory, parameters
    for (uint64_t i = 0; i < bytes; ++i) (shared ? own : global_).add(address + i);
  }
  // A cell of tensor memory has 4 bytes.
  static void tensor(const Access& a, Bytes& own) {
    const uint64_t place = a.addresses[a.lanes != 0 ? static_cast<size_t>(std::countr_zero(a.lanes)) : 0];
    for (uint64_t column = 0; column < a.bytes / 4; ++column)
      for (uint64_t row = 0; row < a.rows; ++row)
        for (uint64_t i = 0; i < 4; ++i)
          own.add(uint64_t{1} << 60 | (((place >> 32 & 0xFF) << 16 | ((place & 0xFFFF) + column)) << 9) |
                  ((place >> 16 & 0xFFFF) + row) << 2 | i);
  }
  size_t count() const {
    size_t out = global_.count;
    for (const auto& [cta, bytes] : clusters_) out += bytes.count;
    return out;
  }

  Bytes global_;
  std::map<std::array<uint32_t, 3>, Bytes> clusters_;
  size_t most_ = 0;
};

struct Memory {
  size_t allocated = 0;  // at most at once
  size_t touched = 0;
  Checker::Cost told;
};

// Of the yardstick's last launch.
Memory memory_of(const yardsticks::Yardstick& yardstick) {
  yardsticks::YardstickRun run(yardstick, capture::share_folder("kernels"));
  run.prepare();
  findings::Watch watch;
  Touched touched;
  size_t most = 0;
  const machine::Observer inner = watch.observer(run.lines());
  machine::Observer counted = inner;
  counted.tell = [&](const machine::Event& event) {
    counting = true;
    inner.tell(event);
    counting = false;
    most = std::max(most, live);
    touched.tell(event);
  };
  run.run(&watch, counted, [&] {
    live = most = 0;
    touched = {};
  });
  return {most, touched.most(), watch.cost_of_last()};
}

class RaceMemory : public testing::TestWithParam<size_t> {};

TEST_P(RaceMemory, IsAtMostFourBytesAByteTouched) {
  const yardsticks::Yardstick& y = yardsticks::yardsticks()[GetParam()];
  const Memory m = memory_of(y);
  ASSERT_GT(m.touched, 0u);
  const auto ratio = [&](size_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(m.touched);
  };
  RecordProperty("allocated_a_byte_touched", std::to_string(ratio(m.allocated)));
  EXPECT_LE(ratio(m.allocated), 4) << y.name << ": " << m.allocated << " bytes for " << m.touched;
  // What `bitwell run --races` says of itself leaves out what threads know, and counts whole pages as
  // touched.
  EXPECT_LE(m.told.shadow, m.allocated) << y.name;
  EXPECT_GE(m.told.touched, m.touched) << y.name;
}

INSTANTIATE_TEST_SUITE_P(Yardsticks, RaceMemory, testing::Range(size_t{0}, yardsticks::yardsticks().size()));

}  // namespace
}  // namespace bitwell::hazard
