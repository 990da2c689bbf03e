#include "verify/schema/keys_page.h"

#include <cctype>

#include "verify/schema/tables.h"

namespace bitwell::schema {
namespace {

std::string text_of_type(const Key& key) {
  const std::string unit(key.unit);
  const std::string of_unit = unit.empty() ? "" : " (" + unit + ")";
  switch (key.type) {
    case Type::text: return "string";
    case Type::path: return "file name";
    case Type::digits: return "hexadecimal digits";
    case Type::flag: return "true or false";
    case Type::whole: return (unit.empty() ? "whole number" : unit) + " below 2^" + std::to_string(key.bits);
    case Type::number: return "number, 0 or more" + of_unit;
    case Type::any: return "number";
    case Type::choice: {
      std::string out;
      for (const std::string& name : key.choices()) out += (out.empty() ? "" : ", ") + name;
      return out;
    }
    case Type::numbers: return "list of numbers";
    case Type::wholes: return "list of whole numbers" + of_unit;
    case Type::extents: return "one to three whole numbers" + of_unit;
    case Type::object: return std::string(table(key.inner).name);
    case Type::objects: {
      std::string name(table(key.inner).name);
      for (const std::string_view article : {"an ", "a "})
        if (name.starts_with(article)) name.erase(0, article.size());
      return "list, each " + name;
    }
  }
  return "";
}

std::string preset_of(const Key& key) {
  if (key.required) return "must be there";
  if (!key.preset.empty()) return "`" + std::string(key.preset) + "`";
  return std::string(key.without);
}

}  // namespace

std::string keys_page() {
  std::string out;
  for (const Table& t : kTables) {
    if (t.about.empty()) continue;
    std::string title(t.name);
    title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
    out += "\n### " + title + "\n\n" + std::string(t.about) + "\n";
    if (t.keys.empty()) {
      std::string names;
      for (const Of of : t.any_of) names += (names.empty() ? "" : ", ") + std::string(table(of).name);
      out += "Any of: " + names + ".\n";
      continue;
    }
    out += "\n| key | value | default | means | since |\n|---|---|---|---|---|\n";
    for (const Key& key : t.keys)
      out += "| `" + std::string(key.name) + "` | " + text_of_type(key) + " | " + preset_of(key) + " | " +
             std::string(key.about) + " | " + std::string(key.since) + " |\n";
  }
  return out.substr(1);
}

}  // namespace bitwell::schema
