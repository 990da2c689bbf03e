#include <algorithm>

#include "model/strict_json/write.h"
#include "verify/schema/fields.h"
#include "verify/schema/nearest.h"

namespace bitwell::schema {
namespace {

constexpr size_t kShownPlaces = 4;  // of those that are not filled in

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

template <class Names>
std::vector<std::string> strings(const Names& names) {
  return {names.begin(), names.end()};
}

bool below(const json& v, int bits) {
  return v.is_number_unsigned() && (bits >= 64 || v.get<uint64_t>() >> bits == 0);
}

bool all(const json& list, const auto& holds) {
  return list.is_array() && std::all_of(list.begin(), list.end(), holds);
}

bool is_hexadecimal(const std::string& text) {
  return !text.empty() && text.size() % 2 == 0 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
}

// What a value of the key must be, where `v` is something else; else empty.
std::string what_it_must_be(const Key& key, const json& v) {
  const std::string below_bits = " below 2^" + std::to_string(key.bits);
  const auto whole = [&](const json& one) { return below(one, key.bits); };
  const auto unless = [](bool good, const std::string& must) { return good ? "" : must; };
  switch (key.type) {
    case Type::text:
    case Type::path:
    case Type::choice: return unless(v.is_string(), "a string");
    case Type::digits:
      return unless(v.is_string() && is_hexadecimal(v.get<std::string>()),
                    "pairs of hexadecimal digits, the byte at the lowest address first");
    case Type::flag: return unless(v.is_boolean(), "true or false");
    case Type::whole: return unless(whole(v), "a whole number" + below_bits);
    case Type::number: return unless(v.is_number() && v.get<double>() >= 0, "a number, 0 or more");
    case Type::any: return unless(v.is_number(), "a number");
    case Type::numbers:
      return unless(all(v, [](const json& one) { return one.is_number(); }), "a list of numbers");
    case Type::wholes: return unless(all(v, whole), "a list of whole numbers" + below_bits);
    case Type::extents:
      return unless(whole(v) || (all(v, whole) && !v.empty() && v.size() <= 3),
                    "one to three whole numbers" + below_bits);
    case Type::object: return unless(v.is_object(), "an object");
    case Type::objects: return unless(v.is_array(), "a list");
  }
  return "";
}

void check(const Key& key, const json& v, const std::string& where) {
  const std::string name(key.name);
  if (const std::string must = what_it_must_be(key, v); !must.empty())
    throw Refused(where + ": '" + name + "' holds " + shown(v) + ", it must be " + must);
  if (key.type != Type::choice) return;
  const std::vector<std::string> names = key.choices();
  const std::string& given = v.get_ref<const std::string&>();
  if (std::find(names.begin(), names.end(), given) == names.end())
    throw Refused(where + ": " + name + " '" + given + "' is not one of " + listed(names) +
                  did_you_mean(given, names));
}

// Places of null, as JSON pointers, but for those in comments.
void find_placeholders(const json& j, const std::string& at, std::vector<std::string>& to) {
  if (j.is_null()) to.push_back(at);
  if (j.is_array())
    for (size_t i = 0; i < j.size(); ++i) find_placeholders(j[i], at + "/" + std::to_string(i), to);
  if (j.is_object())
    for (const auto& [key, value] : j.items())
      if (key != "//") find_placeholders(value, at + "/" + key, to);
}

}  // namespace

std::string shown(const json& value) {
  constexpr size_t most = 60;
  const std::string all = strict_json::dumped(value);
  return all.size() <= most ? all : all.substr(0, most) + "...";
}

std::string named(const json& j, Of of, const std::string& where) {
  const Table& t = table(of);
  if (!t.named || !j.is_object()) return where;
  const auto name = j.find(std::string(t.keys.front().name));
  return name == j.end() || !name->is_string() ? where : where + " ('" + name->get<std::string>() + "')";
}

void check(const json& j, Of of, const std::string& where) {
  if (!j.is_object()) throw Refused(where + " must be an object");
  const Table& t = table(of);
  for (const auto& [name, value] : j.items()) {
    if (name == "//") continue;  // a comment
    if (const Key* key = find(of, name)) {
      check(*key, value, where);
    } else if (t.any_of.empty()) {
      std::vector<std::string> known;
      for (const Key& k : t.keys) known.emplace_back(k.name);
      const std::string near = did_you_mean(name, known);
      throw Refused("unknown field '" + name + "' in " + where +
                    (near.empty() ? "; it knows " + listed(known) : near));
    }
  }
  for (const Key& key : t.keys)
    if (key.required && !j.contains(std::string(key.name)))
      throw Refused(where + " has no '" + std::string(key.name) + "': " + std::string(key.about));
  const auto there = [&](std::string_view name) { return j.contains(std::string(name)); };
  if (!t.exactly_one.empty() && std::count_if(t.exactly_one.begin(), t.exactly_one.end(), there) != 1)
    throw Refused(where + " needs exactly one of " + listed(strings(t.exactly_one)));
}

void refuse_placeholders(const json& file) {
  std::vector<std::string> places;
  find_placeholders(file, "", places);
  if (places.empty()) return;
  const size_t count = places.size();
  places.resize(std::min(count, kShownPlaces));
  throw Refused(std::to_string(count) + (count == 1 ? " value is" : " values are") +
                " still to be filled in, where null stands: at " + listed(places) +
                (count > kShownPlaces ? " and " + std::to_string(count - kShownPlaces) + " more" : ""));
}

Of which(const json& j, Of any_of, const std::string& where) {
  if (!j.is_object()) throw Refused(where + " must be an object");
  const Table* found = nullptr;
  std::vector<std::string> firsts;
  const auto there = [&](std::string_view name) { return j.contains(std::string(name)); };
  for (const Of of : table(any_of).any_of) {
    const Table& t = table(of);
    firsts.emplace_back(t.keys.front().name);
    if (!there(t.keys.front().name)) continue;
    if (t.exactly_one.empty() || std::any_of(t.exactly_one.begin(), t.exactly_one.end(), there)) return of;
    found = &t;  // or another that begins with the same key
  }
  if (found != nullptr) return found->of;
  firsts.erase(std::unique(firsts.begin(), firsts.end()), firsts.end());
  throw Refused(where + " needs one of " + listed(firsts));
}

}  // namespace bitwell::schema
