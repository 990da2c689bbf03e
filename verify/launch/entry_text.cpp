#include "verify/launch/entry_text.h"

#include <algorithm>
#include <array>

#include "model/ptx/reach.h"
#include "verify/launch/file/names.h"
#include "verify/launch/launch.h"

namespace bitwell::verify {
namespace {

using namespace std::string_literals;

// Beginnings of files that are taken for PTX.
struct Other {
  std::string begins, is;
};
const std::array kOthers{Other{"\x7f"s + "ELF", "machine code (a cubin, an object file or a program)"},
                         Other{"\x50\xed\x55\xba", "a fat binary"}, Other{"!<arch>", "a library of objects"}};

}  // namespace

std::string read_ptx(const std::string& path) {
  std::string text = read_file(path);
  for (const Other& other : kOthers)
    if (text.starts_with(other.begins))
      throw machine::InputError(
          "'" + path + "' is " + other.is +
          ", not PTX: make it by nvcc -ptx -lineinfo KERNEL.cu, or take out what is in it "
          "by cuobjdump -ptx " +
          path);
  if (path.ends_with(".cu"))
    throw machine::InputError("'" + path + "' is CUDA C++, not PTX: make it by nvcc -ptx -lineinfo " + path);
  return text;
}

std::string entry_of(const isa::Module& module, const std::string& entry) {
  if (entry.empty()) return entry;
  const std::vector<std::string>& entries = module.entries();
  if (std::find(entries.begin(), entries.end(), entry) != entries.end()) return entry;
  return naming(module.path(), [&]() -> std::string {
    try {
      return entries[name_among(entries, entry, "entry")];
    } catch (const machine::InputError&) {
      ptx::parse(module.text());  // whose refusal says more
      throw;
    }
  });
}

}  // namespace bitwell::verify
