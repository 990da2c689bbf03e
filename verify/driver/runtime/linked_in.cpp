// Programs and libraries with NVIDIA's runtime linked in, as nvcc links it unless it is told otherwise:
// before they begin, each function of that runtime is made to jump to ours of the same name. Where they are
// is in the symbol table, which `strip` takes away: such a program has its own runtime still, which is
// refused.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

// A file's bytes, as long as this lives; none where it cannot be read.
class File {
 public:
  explicit File(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about {};
    if (file >= 0 && fstat(file, &about) == 0 && about.st_size > 0) {
      void* const at = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) bytes_ = {static_cast<const char*>(at), static_cast<size_t>(about.st_size)};
    }
    if (file >= 0) close(file);
  }
  ~File() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_{};
};

struct Function {
  std::string_view name;
  uint64_t at = 0, room = 0;  // bytes until the next function
};

// All functions that the file's symbol table has, by rising place.
std::vector<Function> functions_of(std::string_view file) {
  Elf64_Ehdr header;
  if (file.size() < sizeof header) return {};
  std::memcpy(&header, file.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return {};
  const auto section = [&](uint64_t i, Elf64_Shdr& out) {
    const uint64_t at = header.e_shoff + i * sizeof out;
    if (i >= header.e_shnum || at > file.size() || file.size() - at < sizeof out) return false;
    std::memcpy(&out, file.data() + at, sizeof out);
    return out.sh_type == SHT_NOBITS ||
           (out.sh_offset <= file.size() && out.sh_size <= file.size() - out.sh_offset);
  };
  std::vector<Function> out;
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr table, names;
    if (!section(i, table) || table.sh_type != SHT_SYMTAB || !section(table.sh_link, names)) continue;
    const std::string_view texts = file.substr(names.sh_offset, names.sh_size);
    if (texts.find("__cudaRegisterFatBinary") == std::string_view::npos) return {};
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, file.data() + table.sh_offset + at, sizeof symbol);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
          symbol.st_name >= texts.size())
        continue;
      out.push_back(
          {texts.substr(symbol.st_name, texts.find('\0', symbol.st_name) - symbol.st_name), symbol.st_value});
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Function& a, const Function& b) { return a.at < b.at; });
  for (size_t i = 0; i < out.size(); ++i) {
    const auto next = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(i), out.end(),
                                   [&](const Function& f) { return f.at > out[i].at; });
    out[i].room = next == out.end() ? 0 : next->at - out[i].at;
  }
  return out;
}

#if defined(__x86_64__)
// jmp *0(%rip), and where to
std::array<uint8_t, 14> jump_to(const void* target) {
  std::array<uint8_t, 14> out{0xff, 0x25};
  std::memcpy(&out[6], &target, sizeof target);
  return out;
}
#elif defined(__aarch64__)
// ldr x16, 8; br x16, and where to
std::array<uint8_t, 16> jump_to(const void* target) {
  std::array<uint8_t, 16> out{0x50, 0, 0, 0x58, 0, 0x02, 0x1f, 0xd6};
  std::memcpy(&out[8], &target, sizeof target);
  return out;
}
#endif

void lead(uint64_t from, const void* target) {
  const auto code = jump_to(target);
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t first = from / page * page, end = (from + code.size() + page - 1) / page * page;
  auto* const pages = reinterpret_cast<void*>(first);
  if (mprotect(pages, end - first, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return;
  auto* const at = reinterpret_cast<uint8_t*>(from);
  std::copy(code.begin(), code.end(), at);
  __builtin___clear_cache(reinterpret_cast<char*>(at), reinterpret_cast<char*>(at + code.size()));
  mprotect(pages, end - first, PROT_READ | PROT_EXEC);
}

int lead_calls_of(dl_phdr_info* object, size_t, void* ours) {
  const char* const path = object->dlpi_name[0] == 0 ? "/proc/self/exe" : object->dlpi_name;
  link_map* own = nullptr;
  if (dlinfo(ours, RTLD_DI_LINKMAP, static_cast<void*>(&own)) == 0 && own->l_addr == object->dlpi_addr)
    return 0;
  const File file(path);
  const std::vector<Function> all = functions_of(file.bytes());
  // CUDA 12's runtime gives structures another shape than 13's, ours.
  const auto has = [&](std::string_view name) {
    return std::any_of(all.begin(), all.end(), [&](const Function& f) { return f.name == name; });
  };
  if (!has("__cudaRegisterFatBinary") || has("cudaGetDeviceProperties_v2")) return 0;
  for (const Function& f : all) {
    if (!f.name.starts_with("cuda") && !f.name.starts_with("__cuda")) continue;
    void* const target = dlsym(ours, std::string(f.name).c_str());
    Dl_info is{};
    // Of a name that our library lacks dlsym finds what it was linked with.
    const bool our =
        target != nullptr && dladdr(target, &is) != 0 && is.dli_fbase == reinterpret_cast<void*>(own->l_addr);
    if (our && f.room >= sizeof(jump_to(target))) lead(object->dlpi_addr + f.at, target);
  }
  return 0;
}

// Runs when this library is loaded, before the code of whoever is linked with it or preloads it.
[[gnu::constructor]] void lead_calls() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&jump_to), &here) == 0) return;
  void* const ours = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (ours == nullptr) return;
  dl_iterate_phdr(lead_calls_of, ours);
  dlclose(ours);
}

}  // namespace
