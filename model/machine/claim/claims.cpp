#include "model/machine/claim/claims.h"

#include <algorithm>
#include <unordered_map>

namespace bitwell::machine {
namespace {

// Sets the bits from `first` to `last`.
[[gnu::always_inline]] inline void set(uint64_t* words, uint64_t first, uint64_t last) {
  if ((first | ~last) % 64 == 0) {  // whole words, as of most rows
    for (uint64_t i = first / 64; i <= last / 64; ++i) words[i] = ~uint64_t{0};
    return;
  }
  const uint64_t from = ~uint64_t{0} << first % 64, to = ~uint64_t{0} >> (63 - last % 64);
  if (first / 64 == last / 64) {
    words[first / 64] |= from & to;
    return;
  }
  words[first / 64] |= from;
  for (uint64_t i = first / 64 + 1; i < last / 64; ++i) words[i] = ~uint64_t{0};
  words[last / 64] |= to;
}

// Calls visit(page, first, last) for each page that the bytes lie in, with the first and the last of them in
// it.
template <class Visit>
void each_page(uint64_t offset, uint64_t size, Visit visit) {
  for (const uint64_t end = offset + size; offset < end;) {
    const uint64_t number = offset / kClaimPage;
    const uint64_t stop = std::min(end, (number + 1) * kClaimPage);
    visit(number, offset % kClaimPage, (stop - 1) % kClaimPage);
    offset = stop;
  }
}

// A bit for each four of a word, set where one of them is.
uint64_t fours(uint64_t x) {
  x |= x >> 2;
  x |= x >> 1;
  x &= 0x1111111111111111;
  x = (x | x >> 3) & 0x0303030303030303;
  x = (x | x >> 6) & 0x000F000F000F000F;
  x = (x | x >> 12) & 0x000000FF000000FF;
  return (x | x >> 24) & 0xFFFF;
}

// The bytes of 16 units of 4, a bit for each.
uint64_t bytes_of(uint64_t x) {
  x = (x | x << 24) & 0x000000FF000000FF;
  x = (x | x << 12) & 0x000F000F000F000F;
  x = (x | x << 6) & 0x0303030303030303;
  x = (x | x << 3) & 0x1111111111111111;
  return x * 0xF;
}

// The word of 4-byte units that 256 bytes come to.
uint64_t units(const ClaimedPage& page, size_t word) {
  const uint64_t* bytes = &page.written[4 * word];
  if ((bytes[0] | bytes[1] | bytes[2] | bytes[3]) == 0) return 0;
  return fours(bytes[0]) | fours(bytes[1]) << 16 | fours(bytes[2]) << 32 | fours(bytes[3]) << 48;
}

}  // namespace

ClaimedPage& Claims::page(const Region& at, OfRegion& of, uint64_t number) {
  if (of.pages.empty()) of.pages.resize(claim_pages(at));
  auto& page = of.pages[number];
  if (page == nullptr) {
    if (spare_.empty()) {
      page = std::make_unique<ClaimedPage>();
    } else {
      page = std::move(spare_.back());
      *page = {};
      spare_.pop_back();
    }
    of.claimed.push_back(static_cast<uint32_t>(number));
  }
  return *page;
}

// Of one that is about to change.
ClaimedPage& Claims::changed_page(const Region& at, OfRegion& of, uint64_t number) {
  of.changed = true;
  ClaimedPage& out = page(at, of, number);
  // Asked once: other threads ask for their own at the same time, and all of them at one place of the host's.
  if (!out.kept) before_.keep(at.number, number);
  out.kept = true;
  return out;
}

void Claims::note_read(const Region& at, uint64_t offset, uint64_t size) {
  OfRegion& of = regions_[at.number];
  of.read = true;
  if (before_.only_read(at.number)) return;
  each_page(offset, size, [&](uint64_t number, uint64_t first, uint64_t last) {
    set(page(at, of, number).read.data(), first / 4, last / 4);
  });
}

inline void Claims::note_write(const Region& at, OfRegion& of, uint64_t offset, uint64_t size) {
  // As most often, and without a call: a page that has been written, and no other one.
  const uint64_t only = offset / kClaimPage, behind = offset % kClaimPage + size;
  if (behind <= kClaimPage && only < of.pages.size())
    if (ClaimedPage* const there = of.pages[only].get(); there != nullptr && there->kept)
      return set(there->written.data(), offset % kClaimPage, behind - 1);
  each_page(offset, size, [&](uint64_t number, uint64_t first, uint64_t last) {
    set(changed_page(at, of, number).written.data(), first, last);
  });
}

void Claims::note_write(const Region& at, uint64_t offset, uint64_t size) {
  note_write(at, regions_[at.number], offset, size);
}

void Claims::note_writes(const Region& at, uint64_t offset, uint64_t size, uint64_t step, uint64_t count) {
  OfRegion& of = regions_[at.number];
  for (uint64_t i = 0; i < count; ++i) note_write(at, of, offset + i * step, size);
}

void Claims::note_add(const Region& at, uint64_t offset, uint64_t size, uint64_t kind) {
  OfRegion& of = regions_[at.number];
  of.kinds |= kind;
  each_page(offset, size, [&](uint64_t number, uint64_t first, uint64_t last) {
    set(changed_page(at, of, number).added.data(), first / 4, last / 4);
  });
}

void Claims::clear() {
  for (OfRegion& of : regions_) {
    of.read = of.changed = false;
    of.kinds = 0;
    for (const uint32_t number : of.claimed) spare_.push_back(std::move(of.pages[number]));
    of.claimed.clear();
  }
}

bool Claims::join(ClaimedPage& all, const ClaimedPage& page, bool kinds_differ) {
  uint64_t common = 0;
  for (size_t i = 0; i < page.read.size(); ++i) {
    uint64_t* const all_written = &all.written[4 * i];
    const uint64_t* const written = &page.written[4 * i];
    // Of a page that clusters share, each has most often a few of these.
    if ((written[0] | written[1] | written[2] | written[3] | page.read[i] | page.added[i]) == 0) continue;
    for (size_t j = 0; j < 4; ++j) common |= all_written[j] & written[j];
    const uint64_t here = units(all, i), there = units(page, i);
    common |= (here | all.added[i]) & page.read[i];
    common |= all.read[i] & (there | page.added[i]);
    common |= (here & page.added[i]) | (all.added[i] & there);
    if (kinds_differ) common |= all.added[i] & page.added[i];
    all.read[i] |= page.read[i];
    all.added[i] |= page.added[i];
    for (size_t j = 0; j < 4; ++j) all_written[j] |= written[j];
  }
  return common != 0;
}

Claims::Meeting Claims::take_over(Claims& more) {
  Meeting out;
  for (size_t number = 0; number < regions_.size(); ++number) {
    OfRegion &mine = regions_[number], &other = more.regions_[number];
    if (!other.read && !other.changed) continue;
    const bool both = (mine.read || mine.changed) && (mine.changed || other.changed);
    if (both && before_.only_read(number)) out = {&before_.region(number), true};
    if (mine.pages.empty()) mine.pages.resize(other.pages.size());
    for (const uint32_t page : other.claimed) {
      if (mine.pages[page] == nullptr) {
        mine.pages[page] = std::move(other.pages[page]);
        mine.claimed.push_back(page);
        continue;
      }
      if (join(*mine.pages[page], *other.pages[page], true)) out = {&before_.region(number), false};
      more.spare_.push_back(std::move(other.pages[page]));
    }
    other.claimed.clear();
    mine.read = mine.read || other.read;
    mine.changed = mine.changed || other.changed;
    mine.kinds |= other.kinds;
    other.read = other.changed = false;
    other.kinds = 0;
  }
  return out;
}

Claims::Meeting Claims::meeting(std::span<const std::unique_ptr<Claims>> all, Before& before,
                                bool additions) {
  for (size_t number = 0; number < before.regions(); ++number) {
    size_t users = 0;
    bool changed = false;
    uint64_t kinds = 0;
    for (const auto& claims : all) {
      const OfRegion& of = claims->regions_[number];
      users += of.read || of.changed ? 1 : 0;
      changed = changed || of.changed;
      kinds |= of.kinds;
    }
    if (!changed || users < 2) continue;
    const bool only_read = before.only_read(number);
    if (only_read) return {&before.region(number), true};
    // Most pages are of one thread alone: nothing of them is looked at.
    std::vector<const ClaimedPage*> first(claim_pages(before.region(number)));
    std::unordered_map<uint32_t, ClaimedPage> joined;
    for (const auto& claims : all) {
      const OfRegion& of = claims->regions_[number];
      for (const uint32_t page : of.claimed) {
        const ClaimedPage& claimed = *of.pages[page];
        if (first[page] == nullptr) {
          first[page] = &claimed;
          continue;
        }
        ClaimedPage& sum = joined.try_emplace(page, *first[page]).first->second;
        if (join(sum, claimed, additions || (kinds & (kinds - 1)) != 0))
          return {&before.region(number), false};
      }
    }
  }
  return {};
}

void Claims::put_back(std::span<const std::unique_ptr<Claims>> all, Before& before) {
  before.put_back([&](size_t number, uint64_t page) {
    Before::Bytes out{};
    for (const auto& claims : all) {
      const auto& pages = claims->regions_[number].pages;
      if (pages.empty() || pages[page] == nullptr) continue;
      const ClaimedPage& claimed = *pages[page];
      for (size_t i = 0; i < out.size(); ++i)
        out[i] |= claimed.written[i] | bytes_of(claimed.added[i / 4] >> i % 4 * 16 & 0xFFFF);
    }
    return out;
  });
}

void Claims::learn(std::span<const std::unique_ptr<Claims>> all, Before& before) {
  for (size_t number = 0; number < before.regions(); ++number) {
    bool read = false, changed = false;
    for (const auto& claims : all) {
      read = read || claims->regions_[number].read;
      changed = changed || claims->regions_[number].changed;
    }
    if (read && !changed) before.set_only_read(number, true);
  }
}

}  // namespace bitwell::machine
