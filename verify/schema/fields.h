// An object of LAUNCH.json as its table has it. Reading a key that its table does not declare does not
// compile.
#pragma once
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "verify/schema/tables.h"

namespace bitwell::schema {

using nlohmann::json;

// What a file says is none of what the tables allow; what() says where in the file, and why.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Refused where `j` is not what the table of `of` says: no object, a key that it does not have (with
// the nearest), one that is missing, a value of another type. Objects inside it are looked at when they are
// read. `where` is what refusals call it.
void check(const json& j, Of of, const std::string& where);
// Throws Refused where null stands in the file, as `bitwell init` leaves it: says at which places.
void refuse_placeholders(const json& file);

// `where`, with the name of an object that has one: "buffer 2 ('x')".
std::string named(const json& j, Of of, const std::string& where);

// Which of the objects that `any_of` may be `j` is, told by its first key. Throws Refused.
Of which(const json& j, Of any_of, const std::string& where);

// "[1, 2]", a value for a refusal, cut where it is long.
std::string shown(const json& value);

// A key of that object's table, of one of these types, or of any. Another is an error of the compiler.
template <Of of, Type... types>
struct In {
  const Key* key;
  consteval In(const char* name) : key(find(of, name)) {  // NOLINT(google-explicit-constructor)
    if (!schema::has(of, name)) throw "the table has no such key";
    if (sizeof...(types) != 0 && !(... || (key->type == types))) throw "the key has another type";
  }
};

template <Of of>
class Fields {
 public:
  // Checks `j`, which outlives this. `where` is what refusals call it.
  Fields(const json& j, const std::string& where) : j_(j), where_(named(j, of, where)) {
    check(j_, of, where_);
  }

  // The same object as the part of it that others have too.
  template <Of part>
  Fields<part> as() const {
    constexpr auto all_here = [] {
      for (const Key& key : table(part).keys)
        if (!schema::has(of, key.name)) return false;
      return true;
    };
    static_assert(all_here());
    return {j_, where_, typename Fields<part>::Checked{}};
  }
  const std::string& where() const { return where_; }
  [[noreturn]] void refuse(const std::string& why) const { throw Refused(where_ + ": " + why); }

  bool has(In<of> k) const { return at(k.key) != nullptr; }
  // The value, or what its table says is taken where it is left out, or `preset`.
  std::string text(In<of, Type::text, Type::path, Type::digits, Type::choice> k,
                   std::string preset = "") const {
    const json v = value(k.key);
    return v.is_null() ? preset : v.template get<std::string>();
  }
  bool flag(In<of, Type::flag> k) const { return value(k.key); }
  uint64_t whole(In<of, Type::whole> k, uint64_t preset = 0) const {
    const json v = value(k.key);
    return v.is_null() ? preset : v.template get<uint64_t>();
  }
  double number(In<of, Type::number> k) const { return value(k.key); }
  // The value as it stands, of a key that is there.
  const json& raw(In<of, Type::any, Type::object, Type::numbers> k) const { return *at(k.key); }
  std::vector<uint64_t> wholes(In<of, Type::wholes> k) const { return *at(k.key); }
  std::array<uint32_t, 3> extents(In<of, Type::extents> k) const {
    std::array<uint32_t, 3> out{1, 1, 1};
    const json v = value(k.key);
    if (!v.is_array()) out[0] = v;
    for (size_t i = 0; v.is_array() && i < v.size(); ++i) out[i] = v[i];
    return out;
  }
  // The list's objects; none where it is left out.
  std::vector<json> objects(In<of, Type::objects> k) const {
    const json* v = at(k.key);
    return v == nullptr ? std::vector<json>{} : v->template get<std::vector<json>>();
  }

 private:
  template <Of>
  friend class Fields;
  struct Checked {};
  Fields(const json& j, std::string where, Checked) : j_(j), where_(std::move(where)) {}

  const json* at(const Key* key) const {
    const auto found = j_.find(std::string(key->name));
    return found == j_.end() ? nullptr : &*found;
  }
  json value(const Key* key) const {  // null: left out, and nothing is taken for it
    if (const json* v = at(key)) return *v;
    return key->preset.empty() ? json() : json::parse(key->preset);
  }

  const json& j_;
  std::string where_;
};

}  // namespace bitwell::schema
