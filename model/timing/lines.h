// Lines of global memory, and when each is there.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>

namespace bitwell::timing {

inline constexpr uint64_t kLine = 128;

// A time for each line that was ever asked for.
class Lines {
 public:
  // Below 0 where it was not asked for yet.
  double& operator[](uint64_t line) {
    const uint64_t page = line / kPage;
    Near& near = near_[page % near_.size()];
    if (near.lines == nullptr || near.page != page) {
      auto& lines = pages_[page];
      if (lines == nullptr) {
        lines = std::make_unique<Page>();
        lines->fill(-1);
      }
      near = {page, lines.get()};
    }
    return (*near.lines)[line % kPage];
  }

 private:
  static constexpr uint64_t kPage = 512;
  using Page = std::array<double, kPage>;
  struct Near {
    uint64_t page = 0;
    Page* lines = nullptr;
  };
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::array<Near, 256> near_{};  // those that were asked of late
};

}  // namespace bitwell::timing
