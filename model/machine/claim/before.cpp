#include "model/machine/claim/before.h"

#include <algorithm>
#include <cstring>

namespace bitwell::machine {
namespace {

uint64_t length_of(const Region& region, uint64_t page) {
  return std::min(kClaimPage, region.size() - page * kClaimPage);
}

}  // namespace

Before::Before(Memory& memory) {
  memory.each_region([&](Region& region) {
    region.number = static_cast<uint32_t>(regions_.size());
    regions_.emplace_back(&region);
  });
}

Before::~Before() {
  for (OfRegion& of : regions_) of.region->number = Region::kNoNumber;
}

std::atomic<uint8_t>& Before::state(OfRegion& of, uint64_t page) {
  std::atomic<uint8_t>* all = of.ready.load(std::memory_order_acquire);
  if (all == nullptr) {
    const std::scoped_lock lock(mutex_);
    if (of.states == nullptr) of.states = std::make_unique<std::atomic<uint8_t>[]>(claim_pages(*of.region));
    all = of.states.get();
    of.ready.store(all, std::memory_order_release);
  }
  return all[page];
}

void Before::keep(size_t number, uint64_t page) {
  OfRegion& of = regions_[number];
  std::atomic<uint8_t>& now = state(of, page);
  uint8_t found = untouched;
  if (!now.compare_exchange_strong(found, under_way, std::memory_order_acquire)) {
    // Nobody may write there before it is copied.
    while (found != kept) {
      now.wait(found, std::memory_order_acquire);
      found = now.load(std::memory_order_acquire);
    }
    return;
  }
  const Region& region = *of.region;
  const uint64_t length = length_of(region, page);
  const bool follows = region.raw_defined() != nullptr;
  auto bytes = std::make_unique_for_overwrite<std::byte[]>(follows ? 2 * length : length);
  std::memcpy(bytes.get(), region.raw_bytes() + page * kClaimPage, length);
  if (follows) std::memcpy(bytes.get() + length, region.raw_defined() + page * kClaimPage, length);
  {
    const std::scoped_lock lock(mutex_);
    copies_.push_back({number, page, std::move(bytes)});
  }
  now.store(kept, std::memory_order_release);
  now.notify_all();
}

void Before::put_back() {
  for (const Copy& copy : copies_) {
    Region& region = *regions_[copy.number].region;
    const uint64_t length = length_of(region, copy.page);
    std::memcpy(region.raw_bytes() + copy.page * kClaimPage, copy.bytes.get(), length);
    if (region.raw_defined() != nullptr)
      std::memcpy(region.raw_defined() + copy.page * kClaimPage, copy.bytes.get() + length, length);
  }
  forget();
}

void Before::forget() {
  for (const Copy& copy : copies_)
    regions_[copy.number].states[copy.page].store(untouched, std::memory_order_relaxed);
  copies_.clear();
}

}  // namespace bitwell::machine
