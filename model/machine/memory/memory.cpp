#include "model/machine/memory/memory.h"

#include <algorithm>
#include <cstring>

#include "model/machine/beside.h"
#include "model/machine/failure.h"
#include "model/machine/limits.h"

namespace bitwell::machine {
namespace {

constexpr uint64_t kPadding = 64;
// Of so many objects that are freed their names are kept, for who still points there.
constexpr size_t kMostFreed = 4096;
constexpr uint64_t kMostModules = kWindowSize / kMaxConstant;

// Where the next object may start behind one that ends there.
uint64_t behind_guard(uint64_t end) { return (end + kGuard + 255) & ~uint64_t{255}; }

}  // namespace

Region::Region(std::string name, uint64_t base, uint64_t size, bool defined)
    : name_(std::move(name)), base_(base), size_(size), bytes_(size + kPadding) {
  if (!defined) defined_ = ZeroBytes(size + kPadding);
}

Region::Region(std::string name, std::span<std::byte> host, bool defined)
    : name_(std::move(name)),
      base_(reinterpret_cast<uintptr_t>(host.data())),
      size_(host.size()),
      host_(host.data()) {
  if (!defined) defined_ = ZeroBytes(size_ + kPadding);
}

Region::Region(const Saved& saved)
    : read_only(saved.read_only),
      scratch(saved.scratch),
      name_(saved.name),
      base_(saved.base),
      size_(saved.size),
      bytes_(saved.bytes),
      defined_(saved.defined),
      emptied_(saved.emptied) {}

Region::Saved Region::save() {
  Saved out{name_, base_, size_, read_only, scratch, {}, defined_.save(), emptied_.save()};
  if (host_ != nullptr) {
    ZeroBytes copy(size_ + kPadding);
    std::memcpy(copy.data(), host_, size_);
    out.bytes = copy.save();
  } else {
    out.bytes = bytes_.save();
  }
  return out;
}

void Region::restore(const Saved& saved) {
  if (saved.name != name_ || saved.base != base_ || saved.size != size_)
    throw ModelBug("region '" + name_ + "' is to become '" + saved.name + "'");
  read_only = saved.read_only;
  scratch = saved.scratch;
  if (host_ != nullptr)
    std::memcpy(host_, ZeroBytes(saved.bytes).data(), size_);
  else
    bytes_.restore(saved.bytes);
  defined_.restore(saved.defined);
  emptied_.restore(saved.emptied);
}

bool Region::is_defined(uint64_t offset, uint64_t length) const {
  return raw_defined() == nullptr || all_written(raw_defined() + offset, length);
}

void Region::mark_defined(uint64_t offset, uint64_t length) {
  if (raw_defined() != nullptr) std::memset(raw_defined() + offset, kWritten, length);
}

void Region::mark_undefined(uint64_t offset, uint64_t length) {
  if (raw_defined() != nullptr) std::memset(raw_defined() + offset, 0, length);
  if (emptied_.data() != nullptr) std::memset(emptied_.data() + offset, 1, length);
}

void Region::put(uint64_t address, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  std::memcpy(raw_bytes() + (address - base_), bytes.data(), bytes.size());
  mark_defined(address - base_, bytes.size());
}

void Region::get(uint64_t address, std::span<std::byte> bytes) const {
  if (!bytes.empty()) std::memcpy(bytes.data(), raw_bytes() + (address - base_), bytes.size());
}

void Region::follow_written() {
  if (raw_defined() != nullptr) return;
  defined_ = ZeroBytes(size_ + kPadding);
  mark_defined(0, size_);
}

void Region::add_touched(std::span<uint8_t> all) const {
  // Apart from each other, which lets the compiler take many bytes at once.
  const uint8_t* __restrict written = raw_defined();
  const auto* __restrict emptied = reinterpret_cast<const uint8_t*>(emptied_.data());
  uint8_t* __restrict to = all.data();
  const size_t size = size_;
  for (size_t i = 0; i < size; ++i)
    to[i] = static_cast<uint8_t>(to[i] | emptied[i] | static_cast<uint8_t>(written[i] != 0));
}

Region& Memory::allocate(const std::string& name, uint64_t size, uint64_t behind) {
  const uint64_t base = next_ + behind;
  next_ = behind_guard(base + size);
  return insert(std::make_unique<Region>(name, base, size, false));
}

Region& Memory::adopt(const std::string& name, std::byte* host, uint64_t size, bool written) {
  const auto base = reinterpret_cast<uintptr_t>(host);
  const std::string what = "'" + name + "', " + std::to_string(size) + " bytes of the host's at address " +
                           std::to_string(base) + ", cannot be adopted: ";
  if (size == 0) throw InputError(what + "that is nothing");
  if (base < kLowestHost || base + size < base || (base < kBuffers && base + size > kSharedWindow))
    throw InputError(what + "addresses there are the simulator's own");
  // Of those that start below the end the last has the highest end.
  if (const Region* const other = below(base + size - 1);
      other != nullptr && (other->base() >= base || base - other->base() < other->size()))
    throw InputError(what + "'" + other->name() + "' of " + std::to_string(other->size()) + " bytes at " +
                     std::to_string(other->base()) +
                     " has some of them; free it first, or adopt both as one");
  // The host has given what was freed there to somebody else.
  for (auto at = freed_.begin(); at != freed_.end();)
    at = at->first < base + size && base < at->first + at->second.size ? forget_freed(at) : std::next(at);
  return insert(std::make_unique<Region>(name, std::span(host, size), written));
}

// A region that meets no other, at its place.
Region& Memory::insert(std::unique_ptr<Region> region) {
  const auto at =
      std::lower_bound(regions_.begin(), regions_.end(), region->base(),
                       [](const auto& other, uint64_t address) { return other->base() < address; });
  if (at != regions_.end() && (*at)->base() - region->base() < region->size())
    throw InputError("no room for '" + region->name() + "': the host's '" + (*at)->name() + "' is there");
  return **regions_.insert(at, std::move(region));
}

void Memory::mark(uint64_t address, uint64_t size, bool written) {
  Region* const r = find(address, size);
  if (r == nullptr)
    throw InputError(std::to_string(size) + " bytes are marked at address " + std::to_string(address) + ", " +
                     describe(address));
  if (written) return r->mark_defined(address - r->base(), size);
  r->follow_written();
  r->mark_undefined(address - r->base(), size);
}

std::vector<const Region*> Memory::regions() const {
  std::vector<const Region*> out;
  for (const auto& r : regions_) out.push_back(r.get());
  return out;
}

std::unique_ptr<Region> Memory::take(uint64_t base) {
  const auto at = std::lower_bound(regions_.begin(), regions_.end(), base,
                                   [](const auto& region, uint64_t a) { return region->base() < a; });
  if (at == regions_.end() || (*at)->base() != base) return nullptr;
  std::unique_ptr<Region> out = std::move(*at);
  regions_.erase(at);
  return out;
}

std::map<uint64_t, Memory::Freed>::iterator Memory::forget_freed(std::map<uint64_t, Freed>::iterator at) {
  std::erase(freed_order_, at->first);
  return freed_.erase(at);
}

void Memory::remember(Freed freed) {
  const uint64_t base = freed.base;
  if (const auto at = freed_.find(base); at != freed_.end()) forget_freed(at);
  freed_order_.push_back(base);
  freed_.emplace(base, std::move(freed));
  if (freed_order_.size() <= kMostFreed) return;
  freed_.erase(freed_order_.front());
  freed_order_.pop_front();
}

void Memory::free(uint64_t address) {
  const bool variable = address >= kModuleGlobals && address < kBuffers;
  const std::unique_ptr<Region> region = variable ? nullptr : take(address);
  if (region == nullptr)
    throw InputError("a buffer is freed at address " + std::to_string(address) + ", where none starts, " +
                     describe(address));
  remember({region->name(), region->base(), region->size()});
}

void Memory::remove(uint64_t base) {
  const std::unique_ptr<Region> region = take(base);
  if (region == nullptr) throw ModelBug("nothing to remove");
  remember({region->name(), region->base(), region->size(), " when its module was unloaded"});
}

void Memory::write(uint64_t address, std::span<const std::byte> bytes) {
  Region* r = find(address, bytes.size());
  if (r == nullptr)
    throw InputError(std::to_string(bytes.size()) + " bytes are written at address " +
                     std::to_string(address) + ", " + describe(address));
  r->put(address, bytes);
}

void Memory::read(uint64_t address, std::span<std::byte> bytes) const {
  const Region* r = below(address);
  if (r == nullptr || !r->contains(address, bytes.size()))
    throw InputError(std::to_string(bytes.size()) + " bytes are read at address " + std::to_string(address) +
                     ", " + describe(address));
  r->get(address, bytes);
}

void Memory::retire(uint64_t address, const std::string& by) {
  std::unique_ptr<Region> region = take(address);
  if (region == nullptr) throw ModelBug("nothing to retire");
  remember({region->name(), region->base(), region->size(), " at " + by});
  region->close();
  retired_.push_back(std::move(region));
}

uint64_t Memory::add_texture(const Texture& texture) {
  textures_.emplace(++last_texture_, texture);
  return last_texture_;
}

void Memory::remove_texture(uint64_t handle) {
  if (textures_.erase(handle) == 0)
    throw InputError(std::to_string(handle) + " is the handle of no texture or surface");
}

const Texture* Memory::texture(uint64_t handle) const {
  const auto at = textures_.find(handle);
  return at == textures_.end() ? nullptr : &at->second;
}

ModulePlace Memory::next_module() const {
  if (modules_ == kMostModules)
    throw InputError("no room for the constants of more than " + std::to_string(kMostModules) + " modules");
  return {next_global_, kConstWindow + modules_ * kMaxConstant};
}

Region& Memory::place(const std::string& name, uint64_t base, uint64_t size) {
  const auto at =
      std::lower_bound(regions_.begin(), regions_.end(), base,
                       [](const auto& region, uint64_t address) { return region->base() < address; });
  const bool above = at != regions_.end() && ((*at)->base() < base + size || (*at)->base() == base);
  const bool below = at != regions_.begin() && base - (*std::prev(at))->base() < (*std::prev(at))->size();
  if (above || below) throw ModelBug("variable '" + name + "' is placed where another module's are");
  // What is allocated later stands behind it: regions are kept in the order of their addresses.
  if (base >= kBuffers)
    next_ = std::max(next_, behind_guard(base + size));
  else
    behind_globals_ = std::max(behind_globals_, behind_guard(base + size));
  if (const auto old = freed_.find(base); old != freed_.end()) forget_freed(old);
  return **regions_.insert(at, std::make_unique<Region>(name, base, size, true));
}

void Memory::end_module(bool constants) {
  if (constants) ++modules_;
  next_global_ = behind_globals_;
}

Region* Memory::below(uint64_t address) const {
  auto at = std::upper_bound(regions_.begin(), regions_.end(), address,
                             [](uint64_t a, const auto& region) { return a < region->base(); });
  return at == regions_.begin() ? nullptr : std::prev(at)->get();
}

const Region* Memory::owner(const std::byte* byte) const {
  for (const auto& r : regions_)
    if (byte >= r->raw_bytes() && byte < r->raw_bytes() + r->size()) return r.get();
  return nullptr;
}

Region* Memory::find(uint64_t address, uint64_t length) {
  Region* region = below(address);
  return region != nullptr && region->contains(address, length) ? region : nullptr;
}

std::string Memory::describe(uint64_t address) const {
  std::vector<Named> objects;
  for (const auto& r : regions_) objects.push_back({r->name(), r->base(), r->size()});
  for (const auto& [base, f] : freed_) objects.push_back({f.name + ", which was freed" + f.by, base, f.size});
  return beside(objects, address, "near no buffer");
}

std::string Memory::nearest(uint64_t address) const {
  std::vector<Named> objects;
  for (const auto& r : regions_) objects.push_back({r->name(), r->base(), r->size()});
  for (const auto& [base, f] : freed_) objects.push_back({f.name, base, f.size});
  return machine::nearest(objects, address);
}

}  // namespace bitwell::machine
