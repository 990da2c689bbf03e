#include "model/machine/zero_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "model/machine/failure.h"

namespace bitwell::machine {
namespace {

// From here on a mapping costs less than clearing: shared memory of a CTA stays on the heap.
constexpr uint64_t kMapped = uint64_t{1} << 20;

[[noreturn]] void no_space(uint64_t size) {
  throw InputError("this machine has no address space for " + std::to_string(size) + " bytes of memory");
}

uint64_t page_size() {
  static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return size;
}

bool is_zero(const std::byte* bytes, uint64_t length) {
  return std::all_of(bytes, bytes + length, [](std::byte b) { return b == std::byte{0}; });
}

// The offsets of the pages of [bytes, bytes + size) that are no longer what they were mapped as: in `pagemap`
// bit 63 is set for one that is present, 62 for one that is swapped, 61 for a file's. Where that cannot be
// read: of those that were `zero` at first all that are not, else all.
std::vector<uint64_t> touched_pages(const std::byte* bytes, uint64_t size, bool zero, const char* pagemap) {
  std::vector<uint64_t> out;
  const uint64_t page = page_size();
  const int map = open(pagemap, O_RDONLY | O_CLOEXEC);
  std::array<uint64_t, 512> entries{};
  for (uint64_t from = 0; from < size; from += entries.size() * page) {
    const uint64_t count = std::min<uint64_t>(entries.size(), (size - from + page - 1) / page);
    const auto at = static_cast<off_t>((reinterpret_cast<uintptr_t>(bytes) + from) / page * 8);
    const bool known =
        map >= 0 && pread(map, entries.data(), count * 8, at) == static_cast<ssize_t>(count * 8);
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t offset = from + i * page;
      const bool own = (entries[i] >> 62) != 0 && (entries[i] >> 61 & 1) == 0;
      if (known ? own : !zero || !is_zero(bytes + offset, std::min(page, size - offset)))
        out.push_back(offset);
    }
  }
  if (map >= 0) close(map);
  return out;
}

}  // namespace

// Pages in a file that has no name and lies in memory: what nobody has written there takes none.
class PageFile {
 public:
  explicit PageFile(uint64_t size) : size_(size), file_(memfd_create("bitwell", MFD_CLOEXEC)) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(size)) != 0) refuse();
  }
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  ~PageFile() {
    if (file_ >= 0) close(file_);
  }

  void write(uint64_t offset, const std::byte* bytes, uint64_t length) {
    while (length != 0) {
      const ssize_t n = pwrite(file_, bytes, length, static_cast<off_t>(offset));
      if (n <= 0) refuse();
      offset += static_cast<uint64_t>(n), bytes += n, length -= static_cast<uint64_t>(n);
    }
  }
  // What `other` has, but for its holes.
  void copy(const PageFile& other) {
    std::vector<std::byte> piece(uint64_t{1} << 20);
    for (off_t at = 0;;) {
      at = lseek(other.file_, at, SEEK_DATA);
      if (at < 0) return;  // none left
      const off_t end = lseek(other.file_, at, SEEK_HOLE);
      while (at < end) {
        const auto length = std::min<uint64_t>(piece.size(), static_cast<uint64_t>(end - at));
        const ssize_t n = pread(other.file_, piece.data(), length, at);
        if (n <= 0) refuse();
        write(static_cast<uint64_t>(at), piece.data(), static_cast<uint64_t>(n));
        at += n;
      }
    }
  }
  // As bytes at `at`, or where there is room: what is written there is no other's.
  std::byte* map(std::byte* at) const {
    const int fixed = at == nullptr ? 0 : MAP_FIXED;
    void* to = mmap(at, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | fixed, file_, 0);
    if (to == MAP_FAILED) no_space(size_);
    return static_cast<std::byte*>(to);
  }

 private:
  [[noreturn]] void refuse() const {
    throw InputError("this machine cannot keep a second state of " + std::to_string(size_) +
                     " bytes of memory: " + std::strerror(errno));
  }
  uint64_t size_;
  int file_;
};

ZeroBytes::ZeroBytes(uint64_t size) : size_(size) {
  if (size < kMapped) {
    bytes_.reset(static_cast<std::byte*>(std::calloc(std::max<uint64_t>(size, 1), 1)));
    if (bytes_ == nullptr) throw std::bad_alloc();
    return;
  }
  // Not reserved: what is never touched may be more than the host has.
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) no_space(size);
  bytes_ = {static_cast<std::byte*>(at), Release{size}};
}

ZeroBytes::ZeroBytes(const Saved& saved) : size_(saved.size_), pages_(saved.pages_) {
  if (saved.pages_ != nullptr) {
    bytes_ = {saved.pages_->map(nullptr), Release{size_}};
  } else if (saved.small_ != nullptr) {
    *this = ZeroBytes(size_);
    std::copy(saved.small_->begin(), saved.small_->end(), data());
  }
}

ZeroBytes::Saved ZeroBytes::save(const char* pagemap) {
  Saved out;
  out.size_ = size_;
  if (data() == nullptr) return out;
  if (bytes_.get_deleter().mapped == 0) {
    out.small_ = std::make_shared<const std::vector<std::byte>>(data(), data() + size_);
    return out;
  }
  const std::vector<uint64_t> touched = touched_pages(data(), size_, pages_ == nullptr, pagemap);
  if (pages_ == nullptr || !touched.empty()) {
    const auto file = std::make_shared<PageFile>(size_);
    if (pages_ != nullptr) file->copy(*pages_);
    for (const uint64_t offset : touched)
      file->write(offset, data() + offset, std::min(page_size(), size_ - offset));
    pages_ = file;
    pages_->map(data());  // in place of the pages that were touched, which the host takes back
  }
  out.pages_ = pages_;
  return out;
}

void ZeroBytes::restore(const Saved& saved) {
  if (saved.size_ != size_) {
    *this = ZeroBytes(saved);
  } else if (saved.pages_ != nullptr) {
    saved.pages_->map(data());
    pages_ = saved.pages_;
  } else if (saved.small_ != nullptr) {
    std::copy(saved.small_->begin(), saved.small_->end(), data());
  }
}

void ZeroBytes::Release::operator()(std::byte* bytes) const {
  if (mapped == 0)
    std::free(bytes);
  else
    munmap(bytes, mapped);
}

}  // namespace bitwell::machine
