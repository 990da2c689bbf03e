#include "model/machine/claim/before.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace bitwell::machine {
namespace {

uint64_t length_of(const Region& region, uint64_t page) {
  return std::min(kClaimPage, region.size() - page * kClaimPage);
}

// Of the first `length` those that `which` says.
void copy_some(std::byte* to, const std::byte* from, uint64_t length, const Before::Bytes& which) {
  for (uint64_t i = 0; i < length; i += 64) {
    uint64_t word = which[i / 64];
    if (word == ~uint64_t{0} && length - i >= 64) {
      std::memcpy(to + i, from + i, 64);
      continue;
    }
    for (; word != 0; word &= word - 1) {
      const uint64_t at = i + static_cast<uint64_t>(__builtin_ctzll(word));
      if (at < length) to[at] = from[at];
    }
  }
}

// As the bytes of an output are that nobody has written.
bool all_zero(const void* bytes, uint64_t length) {
  const auto* first = static_cast<const std::byte*>(bytes);
  return *first == std::byte{0} && std::memcmp(first, first + 1, length - 1) == 0;
}

// Whoever writes to the first of so many pages mostly writes to them all: the host gives them at once. One by
// one, and once more when the zeros of an untouched one are first read, many threads wait for the host.
constexpr uint64_t kTogether = 16;

// Says nothing where the host does not do so: the bytes then come as they are touched.
void ask_for(const void* bytes, uint64_t size) {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, Linux 5.14: older headers do not name it
  madvise(const_cast<void*>(bytes), size, kPopulateWrite);
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
  for (uint8_t found = untouched; !now.compare_exchange_strong(found, under_way, std::memory_order_acquire);
       found = untouched) {
    if (found == kept) return;
    now.wait(found, std::memory_order_acquire);  // nobody may write there before it is copied
  }
  const auto become = [&](State state) {
    now.store(state, std::memory_order_release);
    now.notify_all();
  };
  try {
    copy(number, page);
  } catch (...) {  // no memory for it: whoever waits tries it
    become(untouched);
    throw;
  }
  become(kept);
}

void Before::copy(size_t number, uint64_t page) {
  const Region& region = *regions_[number].region;
  const uint64_t length = length_of(region, page);
  const std::byte* const from = region.raw_bytes() + page * kClaimPage;
  const uint8_t* const defined =
      region.raw_defined() == nullptr ? nullptr : region.raw_defined() + page * kClaimPage;
  if (const uint64_t first = page * kClaimPage, all = kTogether * kClaimPage;
      page % kTogether == 0 && region.size() - first >= all) {
    ask_for(from, all);
    if (defined != nullptr) ask_for(defined, all);
  }
  std::unique_ptr<std::byte[]> bytes;
  auto& spare = spare_[defined == nullptr ? 0 : 1];
  if (!all_zero(from, length) || (defined != nullptr && !all_zero(defined, length))) {
    {
      const std::scoped_lock lock(mutex_);
      if (!spare.empty()) {
        bytes = std::move(spare.back());
        spare.pop_back();
      }
    }
    if (bytes == nullptr)
      bytes = std::make_unique_for_overwrite<std::byte[]>(defined == nullptr ? kClaimPage : 2 * kClaimPage);
    std::memcpy(bytes.get(), from, length);
    if (defined != nullptr) std::memcpy(bytes.get() + kClaimPage, defined, length);
  }
  const std::scoped_lock lock(mutex_);
  copies_.push_back({number, page, std::move(bytes), defined != nullptr});
}

void Before::put_back(const std::function<Bytes(size_t number, uint64_t page)>& changed) {
  static constexpr std::byte kZeros[kClaimPage]{};
  for (const Copy& copy : copies_) {
    Region& region = *regions_[copy.number].region;
    const std::byte* const bytes = copy.bytes == nullptr ? kZeros : copy.bytes.get();
    const std::byte* const defined = copy.bytes == nullptr ? kZeros : copy.bytes.get() + kClaimPage;
    const uint64_t length = length_of(region, copy.page), first = copy.page * kClaimPage;
    const Bytes which = changed(copy.number, copy.page);
    copy_some(region.raw_bytes() + first, bytes, length, which);
    if (copy.defined && region.raw_defined() != nullptr)
      copy_some(reinterpret_cast<std::byte*>(region.raw_defined()) + first, defined, length, which);
  }
  forget();
}

void Before::forget() {
  for (Copy& copy : copies_) {
    regions_[copy.number].states[copy.page].store(untouched, std::memory_order_relaxed);
    if (copy.bytes != nullptr) spare_[copy.defined ? 1 : 0].push_back(std::move(copy.bytes));
  }
  copies_.clear();
}

}  // namespace bitwell::machine
