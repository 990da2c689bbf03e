#include "verify/launch/entry_text.h"

#include <algorithm>
#include <span>

#include "model/ptx/reach.h"
#include "verify/image/image.h"
#include "verify/launch/file/names.h"
#include "verify/launch/launch.h"

namespace bitwell::launch {
namespace {

using machine::InputError;

// The text of these that has the entry.
std::string with_entry(std::vector<std::string>& found, const std::string& entry) {
  if (found.size() == 1) return std::move(found.front());
  std::vector<std::string> all;
  std::vector<size_t> owner;
  for (size_t i = 0; i < found.size(); ++i)
    for (std::string& name : ptx::entry_names(found[i])) {
      all.push_back(std::move(name));
      owner.push_back(i);
    }
  if (entry.empty()) throw InputError(image::several(found));
  return std::move(found[owner[name_among(all, entry, "entry")]]);
}

}  // namespace

std::string read_ptx(const std::string& path, const std::string& entry) {
  std::string text = read_file(path);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  if (text.starts_with("!<arch>"))
    throw InputError("'" + path +
                     "' is a library of objects, not PTX: make it by nvcc -ptx -lineinfo KERNEL.cu, or "
                     "take out what is in it by cuobjdump -ptx " +
                     path);
  if (path.ends_with(".cu"))
    throw InputError("'" + path + "' is CUDA C++, not PTX: make it by nvcc -ptx -lineinfo " + path);
  if (!image::is_binary(bytes)) return text;
  return naming(path, [&] {
    std::vector<std::string> found = image::candidates(image::read(bytes));
    return with_entry(found, entry);
  });
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

}  // namespace bitwell::launch
