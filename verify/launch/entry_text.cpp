#include "verify/launch/entry_text.h"

#include "model/ptx/reach.h"
#include "verify/launch/launch.h"
#include "verify/launch/names.h"

namespace bitwell::verify {

EntryText read_entry(const std::string& path, const std::string& entry) {
  const std::string text = read_file(path);
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
