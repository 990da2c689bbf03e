// Bytes that cost nothing until they are touched, and that can come back to what they were.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace bitwell::machine {

class PageFile;  // pages that several ZeroBytes begin with

// Bytes that are zero at first, however many: small ones from the heap, large ones in pages that the host
// maps when they are touched.
class ZeroBytes {
 public:
  // What they were. It stays as it is, whatever becomes of them.
  class Saved {
    friend class ZeroBytes;
    uint64_t size_ = 0;
    std::shared_ptr<const std::vector<std::byte>> small_;
    std::shared_ptr<const PageFile> pages_;
  };

  // Throws InputError where the host has no address space for them.
  explicit ZeroBytes(uint64_t size);
  // Bytes that begin as those that were saved; of large ones each page is shared until it is written.
  explicit ZeroBytes(const Saved& saved);
  ZeroBytes() = default;
  std::byte* data() const { return bytes_.get(); }

  // Costs the bytes of small ones, of large ones the pages that were touched so far; from then on what is
  // written costs its pages a second time. Throws InputError where the host has no file of memory for them.
  // `pagemap`: where Linux says which pages are touched; where it cannot be read, all are looked at.
  Saved save(const char* pagemap = "/proc/self/pagemap");
  // Makes them what they, or others, were when they were saved; where those were as many, data() stays.
  void restore(const Saved& saved);

 private:
  struct Release {
    uint64_t mapped;  // bytes; 0: from the heap
    void operator()(std::byte* bytes) const;
  };
  uint64_t size_ = 0;
  std::unique_ptr<std::byte, Release> bytes_;
  std::shared_ptr<const PageFile> pages_;  // that untouched pages are of; nullptr: they are zero
};

}  // namespace bitwell::machine
