#include "model/machine/memory/zero_bytes.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "model/machine/failure.h"
#include "model/machine/memory/pages.h"

namespace bitwell::machine {
namespace {

// From here on a mapping costs less than clearing: shared memory of a CTA stays on the heap.
constexpr uint64_t kMapped = uint64_t{1} << 20;

std::atomic<uint64_t> kept{0};  // by all files of pages

[[noreturn]] void no_space(uint64_t size) {
  throw InputError("this machine has no address space for " + std::to_string(size) + " bytes of memory");
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
    kept -= kept_;
  }

  void write(uint64_t offset, const std::byte* bytes, uint64_t length) {
    while (length != 0) {
      const ssize_t n = pwrite(file_, bytes, length, static_cast<off_t>(offset));
      if (n <= 0) refuse();
      offset += static_cast<uint64_t>(n), bytes += n, length -= static_cast<uint64_t>(n);
    }
  }
  void read(uint64_t offset, std::byte* bytes, uint64_t length) const {
    if (pread(file_, bytes, length, static_cast<off_t>(offset)) != static_cast<ssize_t>(length))
      throw ModelBug("a file of memory has lost bytes");
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
  // When all is written: nothing is from now on.
  void finish() {
    for (off_t at = 0; (at = lseek(file_, at, SEEK_DATA)) >= 0;) {
      const off_t end = lseek(file_, at, SEEK_HOLE);
      written_.push_back({static_cast<uint64_t>(at), static_cast<uint64_t>(end)});
      kept_ += static_cast<uint64_t>(end - at);
      at = end;
    }
    kept += kept_;
    for (uint64_t gap = uint64_t{1} << 16; written_.size() > kMostParts; gap *= 4) {
      std::vector<Part> fewer;
      for (const Part& p : written_)
        if (!fewer.empty() && p.begin - fewer.back().end <= gap)
          fewer.back().end = p.end;
        else
          fewer.push_back(p);
      written_ = std::move(fewer);
    }
  }
  // As bytes at `at`, or where there is room: what is written there is no other's. Of the file only the parts
  // are mapped that hold something: a hole of it would become a page when it is read.
  std::byte* map(std::byte* at) const {
    auto* const to = static_cast<std::byte*>(part_at(at, size_, MAP_ANONYMOUS, -1, 0));
    for (const Part& p : written_) part_at(to + p.begin, p.end - p.begin, 0, file_, p.begin);
    return to;
  }

 private:
  static constexpr size_t kMostParts = 64;  // the host allows a process some 65,000 mappings
  struct Part {
    uint64_t begin, end;
  };
  static void* part_at(std::byte* at, uint64_t size, int kind, int file, uint64_t offset) {
    const int fixed = at == nullptr ? 0 : MAP_FIXED;
    void* to = mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE | fixed | kind, file,
                    static_cast<off_t>(offset));
    if (to == MAP_FAILED) no_space(size);
    return to;
  }
  [[noreturn]] void refuse() const {
    throw InputError("this machine cannot keep a second state of " + std::to_string(size_) +
                     " bytes of memory: " + std::strerror(errno));
  }
  uint64_t size_;
  int file_;
  uint64_t kept_ = 0;  // bytes
  std::vector<Part> written_;
};

uint64_t kept_bytes() { return kept; }

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

// The host takes the pages back as it goes, so that they are never all there twice; where the file cannot
// hold them, they are as they were.
static void move_to(PageFile& file, std::byte* bytes, uint64_t size, const std::vector<uint64_t>& pages) {
  constexpr size_t kAtOnce = 4096;
  const auto length = [&](uint64_t offset) { return std::min(page_size(), size - offset); };
  size_t moved = 0;
  try {
    for (size_t end = 0; moved < pages.size(); moved = end) {
      end = std::min(moved + kAtOnce, pages.size());
      for (size_t i = moved; i < end; ++i) file.write(pages[i], bytes + pages[i], length(pages[i]));
      for (size_t i = moved; i < end; ++i) madvise(bytes + pages[i], page_size(), MADV_DONTNEED);
    }
  } catch (...) {
    for (size_t i = 0; i < moved; ++i) file.read(pages[i], bytes + pages[i], length(pages[i]));
    throw;
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
    move_to(*file, data(), size_, touched);
    file->finish();
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
