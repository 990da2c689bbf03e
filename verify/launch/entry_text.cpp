#include "verify/launch/entry_text.h"

#include <array>

#include "model/ptx/reach.h"
#include "verify/launch/launch.h"
#include "verify/launch/names.h"

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

EntryText read_entry(const std::string& path, const std::string& entry) {
  const std::string text = read_ptx(path);
  if (entry.empty()) return {text, entry};
  return naming(path, [&]() -> EntryText {
    const std::vector<std::string> entries = ptx::entry_names(text);
    try {
      const std::string& name = entries[name_among(entries, entry, "entry")];
      return {ptx::reached_from(text, name), name};
    } catch (const machine::InputError&) {
      ptx::parse(text);  // whose refusal says more
      throw;
    }
  });
}

}  // namespace bitwell::verify
