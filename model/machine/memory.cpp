#include "model/machine/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "model/machine/beside.h"
#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

constexpr uint64_t kPadding = 64;
// From here on a mapping costs less than clearing: shared memory of a CTA stays on the heap.
constexpr uint64_t kMapped = uint64_t{1} << 20;

}  // namespace

ZeroBytes::ZeroBytes(uint64_t size) {
  if (size < kMapped) {
    bytes_.reset(static_cast<std::byte*>(std::calloc(size, 1)));
    if (bytes_ == nullptr) throw std::bad_alloc();
    return;
  }
  // Not reserved: what is never touched may be more than the host has.
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw InputError("this machine has no address space for " + std::to_string(size) + " bytes of memory");
  bytes_ = {static_cast<std::byte*>(at), Release{size}};
}

void ZeroBytes::Release::operator()(std::byte* bytes) const {
  if (mapped == 0)
    std::free(bytes);
  else
    munmap(bytes, mapped);
}

Region::Region(std::string name, uint64_t base, uint64_t size, bool defined)
    : name_(std::move(name)), base_(base), size_(size), bytes_(size + kPadding) {
  if (!defined) defined_ = ZeroBytes(size + kPadding);
}

bool Region::is_defined(uint64_t offset, uint64_t length) const {
  return defined() == nullptr || all_written(defined() + offset, length);
}

void Region::mark_defined(uint64_t offset, uint64_t length) {
  if (defined() != nullptr) std::memset(defined() + offset, kWritten, length);
}

void Region::mark_undefined(uint64_t offset, uint64_t length) {
  if (defined() != nullptr) std::memset(defined() + offset, 0, length);
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

Region* GlobalMemory::below(uint64_t address) const {
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
  Region* region = below(address);
  return region != nullptr && region->contains(address, length) ? region : nullptr;
}

std::string GlobalMemory::describe(uint64_t address) const {
  std::vector<Named> objects;
  for (const auto& r : regions_) objects.push_back({r->name(), r->base(), r->size()});
  return beside(objects, address, "near no buffer");
}

}  // namespace bitwell::machine
