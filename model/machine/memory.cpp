#include "model/machine/memory.h"

#include <algorithm>
#include <cstring>

namespace bitwell::machine {
namespace {

constexpr uint64_t kPadding = 64;
constexpr uint64_t kGuard = uint64_t{1} << 20;

}  // namespace

Region::Region(std::string name, uint64_t base, uint64_t size, bool defined)
    : name_(std::move(name)), base_(base), size_(size), bytes_(new std::byte[size + kPadding]()) {
  if (!defined) defined_.assign(size + kPadding, 0);
}

bool Region::is_defined(uint64_t offset, uint64_t length) const {
  if (defined_.empty()) return true;
  return all_written(defined_.data() + offset, length);
}

void Region::mark_defined(uint64_t offset, uint64_t length) {
  if (!defined_.empty()) std::memset(defined_.data() + offset, kWritten, length);
}

void Region::mark_undefined(uint64_t offset, uint64_t length) {
  if (!defined_.empty()) std::memset(defined_.data() + offset, 0, length);
}

Region& GlobalMemory::allocate(const std::string& name, uint64_t size) {
  const uint64_t base = next_;
  next_ = (base + size + kGuard + 255) & ~uint64_t{255};
  regions_.push_back(std::make_unique<Region>(name, base, size, false));
  return *regions_.back();
}

Region& GlobalMemory::place(const std::string& name, uint64_t base, uint64_t size) {
  const auto at =
      std::lower_bound(regions_.begin(), regions_.end(), base,
                       [](const auto& region, uint64_t address) { return region->base() < address; });
  return **regions_.insert(at, std::make_unique<Region>(name, base, size, true));
}

const Region* GlobalMemory::nearest(uint64_t address) const {
  auto at = std::upper_bound(regions_.begin(), regions_.end(), address,
                             [](uint64_t a, const auto& region) { return a < region->base(); });
  return at == regions_.begin() ? nullptr : std::prev(at)->get();
}

const Region* GlobalMemory::owner(const std::byte* byte) const {
  for (const auto& r : regions_)
    if (byte >= r->data() && byte < r->data() + r->size()) return r.get();
  return nullptr;
}

Region* GlobalMemory::find(uint64_t address, uint64_t length) {
  auto* region = const_cast<Region*>(nearest(address));
  return region != nullptr && region->contains(address, length) ? region : nullptr;
}

}  // namespace bitwell::machine
