// Lines of global memory, and when each is there.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "model/machine/failure.h"
#include "model/timing/server.h"

namespace bitwell::timing {

inline constexpr uint64_t kLine = 128, kSector = 32;  // bytes
inline constexpr uint64_t kSectors = kLine / kSector;

// Of each line that was ever asked for a number and a time; or of each half, where whoever asks counts those.
class Lines {
 public:
  // The time; below 0 where it was not asked for yet.
  Time& operator[](uint64_t line) {
    Page& page = this->page(line / kPage);
    if (page.times == nullptr) {
      page.times = std::make_unique<std::array<Time, kPage>>();
      page.times->fill(-1);
    }
    return (*page.times)[line % kPage];
  }
  // Another for each, and small. Throws Unsupported where there are too many.
  uint32_t number(uint64_t line) {
    return page(line / kPage).number * static_cast<uint32_t>(kPage) + static_cast<uint32_t>(line % kPage);
  }
  static constexpr uint32_t kMost = 1 << 28;  // of numbers

 private:
  static constexpr uint64_t kPage = 512;
  struct Page {
    uint32_t number = 0;
    std::unique_ptr<std::array<Time, kPage>> times;
  };
  Page& page(uint64_t number) {
    Near& near = near_[number % near_.size()];
    if (near.page == nullptr || near.number != number) near = {number, &find(number)};
    return *near.page;
  }
  Page& find(uint64_t number) {
    const auto [at, is_new] = pages_.try_emplace(number);
    if (is_new) at->second.number = static_cast<uint32_t>(pages_.size() - 1);
    if (pages_.size() > kMost / kPage)
      throw machine::Unsupported("a run in the order of time that reaches more than 16 GiB of global memory");
    return at->second;
  }
  struct Near {
    uint64_t number = 0;
    Page* page = nullptr;
  };
  std::unordered_map<uint64_t, Page> pages_;
  std::array<Near, 256> near_{};  // those that were asked of late
};

}  // namespace bitwell::timing
