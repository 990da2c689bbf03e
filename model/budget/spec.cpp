#include "model/budget/spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/strict_json/parse.h"
#include "model/strict_json/write.h"

namespace bitwell::budget {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void wrong(const std::string& path, const std::string& expected) {
  throw BudgetError(path + ": expected " + expected);
}

// An object's members, each asked for once; what is left over is a mistake.
class Members {
 public:
  Members(const Json& object, std::string path) : object_(object), path_(std::move(path)) {
    if (!object.is_object()) wrong(path_.empty() ? "the spec" : path_, "an object");
  }
  const Json* find(const std::string& key) {
    asked_.push_back(key);
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
  }
  std::string text(const std::string& key, const std::string& preset) {
    const Json* v = find(key);
    if (v == nullptr) return preset;
    if (!v->is_string()) wrong(path_ + "/" + key, "a string");
    return v->get<std::string>();
  }
  // A formula: a string, or an integer for itself.
  std::string formula(const std::string& key, const std::optional<std::string>& preset) {
    const Json* v = find(key);
    if (v == nullptr && preset) return *preset;
    if (v == nullptr) wrong(path_ + "/" + key, "a formula, found nothing");
    return as_formula(*v, path_ + "/" + key);
  }
  static std::string as_formula(const Json& v, const std::string& path) {
    if (v.is_number_integer()) return strict_json::dumped(v);
    if (!v.is_string()) wrong(path, "a formula (a string or an integer)");
    return v.get<std::string>();
  }
  void finish() const {
    for (const auto& [key, v] : object_.items())
      if (std::find(asked_.begin(), asked_.end(), key) == asked_.end())
        wrong(path_ + "/" + key, "one of " + list());
  }
  const std::string& path() const { return path_; }

 private:
  std::string list() const {
    std::string out;
    for (const std::string& a : asked_) out += (out.empty() ? "" : ", ") + a;
    return out;
  }
  const Json& object_;
  std::string path_;
  std::vector<std::string> asked_;
};

LayoutText layout_text(const Json& json, const std::string& path) {
  LayoutText out;
  Members m(json, path);
  out.name = m.text("name", "");
  out.expression = m.text("expression", "");
  if (out.name.empty() == out.expression.empty()) wrong(path, "either \"name\" or \"expression\"");
  if (!out.expression.empty()) {
    out.bits = m.formula("bits", "8");
    m.finish();
    return out;
  }
  for (const auto& [key, v] : json.items())
    if (key != "name") out.parameters.emplace_back(key, Members::as_formula(v, path + "/" + key));
  return out;
}

Item item(const Json& json, const std::string& path, bool tensor) {
  Item out;
  Members m(json, path);
  out.name = m.text("name", "");
  if (out.name.empty()) wrong(path + "/name", "a string");
  out.size = m.formula(tensor ? "columns" : "bytes", std::nullopt);
  out.count = m.formula("count", "1");
  out.why = m.text("why", "");
  if (!tensor) {
    const std::string per = m.text("per", "cta");
    if (per != "cta" && per != "stage" && per != "epilogue") wrong(path + "/per", "cta, stage or epilogue");
    out.per = per == "cta" ? Per::cta : per == "stage" ? Per::stage : Per::epilogue;
  }
  if (const Json* l = m.find("layout")) out.layout = layout_text(*l, path + "/layout");
  m.finish();
  return out;
}

std::vector<Item> items(Members& m, const char* key) {
  std::vector<Item> out;
  const Json* list = m.find(key);
  if (list == nullptr) return out;
  if (!list->is_array()) wrong(m.path() + "/" + key, "a list");
  for (size_t i = 0; i < list->size(); ++i)
    out.push_back(
        item((*list)[i], m.path() + "/" + key + "/" + std::to_string(i), std::string(key) == "tensor"));
  return out;
}

Json parse_json(const std::string& text) {
  try {
    return strict_json::parse_ordered(text);
  } catch (const strict_json::JsonError& e) {
    throw BudgetError(e.what());
  }
}

}  // namespace

Spec parse_spec(const std::string& text) {
  const Json json = parse_json(text);
  Spec out;
  Members m(json, "");
  out.name = m.text("name", "");
  if (out.name.empty()) wrong("/name", "a string");
  out.source = m.text("source", "");
  out.capacity = m.formula("capacity", out.capacity);
  out.least_stages = m.formula("least_stages", out.least_stages);
  out.legal = m.formula("legal", out.legal);
  if (const Json* names = m.find("names")) {
    if (!names->is_object()) wrong("/names", "an object");
    for (const auto& [key, v] : names->items())
      out.names.emplace_back(key, Members::as_formula(v, "/names/" + key));
  }
  out.shared = items(m, "shared");
  out.tensor = items(m, "tensor");
  if (const Json* search = m.find("search")) {
    if (!search->is_object()) wrong("/search", "an object");
    for (const auto& [key, v] : search->items()) {
      if (!v.is_array() || v.empty()) wrong("/search/" + key, "a list of integers");
      std::vector<int64_t> choices;
      for (const Json& c : v) {
        if (!c.is_number_integer() || (c.is_number_unsigned() && c.get<uint64_t>() > INT64_MAX))
          wrong("/search/" + key, "a list of integers");
        choices.push_back(c.get<int64_t>());
      }
      out.search.emplace_back(key, std::move(choices));
    }
  }
  if (const Json* maximise = m.find("maximise")) {
    if (!maximise->is_object()) wrong("/maximise", "an object");
    for (const auto& [key, v] : maximise->items())
      out.maximise.emplace_back(key, Members::as_formula(v, "/maximise/" + key));
  }
  m.finish();
  return out;
}

Names names_of(const Spec& spec, const Names& overrides) {
  Names out;
  for (const auto& [name, formula] : spec.names) {
    const auto at = overrides.find(name);
    out[name] = at != overrides.end() ? at->second : evaluate(formula, out);
  }
  for (const auto& [name, value] : overrides)
    if (out.count(name) == 0) {
      std::string known;
      for (const auto& [n, v] : out) known += (known.empty() ? "" : ", ") + n;
      throw BudgetError("'" + spec.name + "' has no name '" + name + "'; there are " + known);
    }
  return out;
}

}  // namespace bitwell::budget
