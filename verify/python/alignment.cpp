#include "verify/python/alignment.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace bitwell::python {
namespace {

std::atomic<size_t> least_alignment{0};

int allocate(void** out, size_t alignment, size_t bytes) {
  return posix_memalign(out, std::max(alignment, least_alignment.load()), bytes);
}

// What of a loaded library's dynamic section leads to its imports.
struct Dynamic {
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  const Elf64_Rela* calls = nullptr;  // DT_JMPREL
  const Elf64_Rela* others = nullptr;
  size_t calls_bytes = 0, others_bytes = 0;
};

Dynamic dynamic_of(const dl_phdr_info& library) {
  Dynamic out;
  for (size_t i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    for (auto* d = reinterpret_cast<const Elf64_Dyn*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
         d->d_tag != DT_NULL; ++d) {
      const auto at = d->d_un.d_ptr;  // glibc has made addresses of them
      switch (d->d_tag) {
        case DT_SYMTAB: out.symbols = reinterpret_cast<const Elf64_Sym*>(at); break;
        case DT_STRTAB: out.strings = reinterpret_cast<const char*>(at); break;
        case DT_JMPREL: out.calls = reinterpret_cast<const Elf64_Rela*>(at); break;
        case DT_PLTRELSZ: out.calls_bytes = d->d_un.d_val; break;
        case DT_RELA: out.others = reinterpret_cast<const Elf64_Rela*>(at); break;
        case DT_RELASZ: out.others_bytes = d->d_un.d_val; break;
        default: break;
      }
    }
  }
  return out;
}

// Whether the loader has made it read-only (RELRO): other pages of imports it still writes to.
bool read_only(const dl_phdr_info& library, uintptr_t address) {
  for (size_t i = 0; i < library.dlpi_phnum; ++i) {
    const Elf64_Phdr& part = library.dlpi_phdr[i];
    if (part.p_type == PT_GNU_RELRO && address - (library.dlpi_addr + part.p_vaddr) < part.p_memsz)
      return true;
  }
  return false;
}

bool put(const dl_phdr_info& library, void** slot, void* function) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(slot);
  void* const start = reinterpret_cast<void*>(address / page * page);
  if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0) return false;
  *slot = function;
  return !read_only(library, address) || mprotect(start, page, PROT_READ) == 0;
}

bool replace(const dl_phdr_info& library, std::string_view name, void* function) {
  const Dynamic d = dynamic_of(library);
  if (d.symbols == nullptr || d.strings == nullptr) return false;
  bool found = false;
  const auto look = [&](const Elf64_Rela* relocations, size_t bytes) {
    for (size_t i = 0; relocations != nullptr && i < bytes / sizeof(Elf64_Rela); ++i) {
      const Elf64_Rela& r = relocations[i];
      const auto type = ELF64_R_TYPE(r.r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (name != d.strings + d.symbols[ELF64_R_SYM(r.r_info)].st_name) continue;
      found = put(library, reinterpret_cast<void**>(library.dlpi_addr + r.r_offset), function) || found;
    }
  };
  look(d.calls, d.calls_bytes);
  look(d.others, d.others_bytes);
  return found;
}

}  // namespace

bool align_allocations_of(std::string_view library, size_t alignment) {
  struct Asked {
    std::string_view library;
    bool found;
  } asked{library, false};
  least_alignment = alignment;
  dl_iterate_phdr(
      [](dl_phdr_info* loaded, size_t, void* data) {
        auto& a = *static_cast<Asked*>(data);
        const std::string_view path = loaded->dlpi_name == nullptr ? "" : loaded->dlpi_name;
        if (path.substr(path.rfind('/') + 1) != a.library) return 0;
        a.found = replace(*loaded, "posix_memalign", reinterpret_cast<void*>(&allocate));
        return 1;
      },
      &asked);
  return asked.found;
}

}  // namespace bitwell::python
