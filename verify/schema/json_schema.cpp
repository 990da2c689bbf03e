#include "verify/schema/json_schema.h"

#include <nlohmann/json.hpp>

#include "model/strict_json/write.h"
#include "verify/schema/tables.h"

namespace bitwell::schema {
namespace {

using Ordered = nlohmann::ordered_json;

constexpr int kExactBits = 53;  // beyond which readers of JSON that know only doubles differ

// "a buffer" -> "buffer"
std::string id(Of of) {
  std::string name(table(of).name);
  for (const std::string_view article : {"an ", "a ", "the "})
    if (name.starts_with(article)) name.erase(0, article.size());
  return name;
}
Ordered reference(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

Ordered whole(int bits) {
  Ordered out{{"type", "integer"}, {"minimum", 0}};
  if (bits <= kExactBits) out["maximum"] = (uint64_t{1} << bits) - 1;
  return out;
}

Ordered list_of(Ordered items) { return {{"type", "array"}, {"items", std::move(items)}}; }

Ordered type_of(const Key& key) {
  switch (key.type) {
    case Type::text:
    case Type::path: return {{"type", "string"}};
    case Type::digits: return {{"type", "string"}, {"pattern", "^([0-9a-fA-F]{2})+$"}};
    case Type::flag: return {{"type", "boolean"}};
    case Type::whole: return whole(key.bits);
    case Type::number: return {{"type", "number"}, {"minimum", 0}};
    case Type::any: return {{"type", "number"}};
    case Type::choice: return {{"enum", key.choices()}};
    case Type::numbers: return list_of({{"type", "number"}});
    case Type::wholes: return list_of(whole(key.bits));
    case Type::extents: {
      Ordered list = list_of(whole(key.bits));
      list["minItems"] = 1;
      list["maxItems"] = 3;
      return {{"anyOf", {whole(key.bits), std::move(list)}}};
    }
    case Type::object: return reference(id(key.inner));
    case Type::objects: return list_of(reference(id(key.inner)));
  }
  return {};
}

Ordered property(const Key& key) {
  Ordered out = type_of(key);
  out["description"] = std::string(key.about) + (key.unit.empty() ? "" : " (" + std::string(key.unit) + ")");
  if (!key.preset.empty()) out["default"] = Ordered::parse(key.preset);
  return out;
}

// `with`: keys that stand before the table's own.
Ordered object_of(const Table& t, std::span<const Key> with = {}) {
  Ordered out{{"type", "object"}};
  if (!t.about.empty()) out["description"] = t.about;
  Ordered properties{{"//", {{"description", "a comment"}}}};
  Ordered required = Ordered::array();
  for (const std::span<const Key> keys : {with, t.keys})
    for (const Key& key : keys) {
      properties[std::string(key.name)] = property(key);
      if (key.required) required.push_back(key.name);
    }
  out["properties"] = std::move(properties);
  if (!required.empty()) out["required"] = std::move(required);
  for (const std::string_view name : t.exactly_one) out["oneOf"].push_back({{"required", {name}}});
  out["additionalProperties"] = false;
  return out;
}

}  // namespace

std::string json_schema() {
  Ordered out{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "LAUNCH.json of bitwell"}};
  out.update(object_of(table(Of::launch)));
  for (const Table& t : kTables) {
    if (t.of == Of::launch || t.about.empty()) continue;
    if (t.any_of.empty()) {
      out["$defs"][id(t.of)] = object_of(t);
      continue;
    }
    Ordered any = Ordered::array();
    for (const Of of : t.any_of) {
      const std::string name = t.keys.empty() ? id(of) : id(t.of) + ": " + id(of);
      if (!t.keys.empty()) out["$defs"][name] = object_of(table(of), t.keys);
      any.push_back(reference(name));
    }
    out["$defs"][id(t.of)] = {{"description", t.about}, {"anyOf", std::move(any)}};
  }
  return strict_json::dumped(out, 2) + "\n";
}

}  // namespace bitwell::schema
