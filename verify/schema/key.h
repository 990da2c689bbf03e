// What a key of LAUNCH.json is. From the tables of keys (tables.h) come the reader's checks, the JSON Schema
// that editors complete from, the tables of docs/launch-file.md and the comments of `bitwell init`.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::schema {

enum class Type : uint8_t {
  text,
  path,     // of a file, beside the launch file where it is relative
  digits,   // hexadecimal, two for each byte
  flag,     // true or false
  whole,    // a whole number below 2^bits
  number,   // 0 or more
  any,      // a number
  choice,   // one of choices()
  numbers,  // a list
  wholes,   // a list of whole numbers below 2^bits
  extents,  // one to three whole numbers below 2^bits, x first; of one alone the brackets may be left out
  object,   // whose keys are those of `inner`
  objects   // a list of such
};

// The objects of a launch file. Some stand for any of several others, or are a part of them.
enum class Of : uint8_t {
  launch,
  shape,  // of a launch: its keys stand among that one's
  step,   // any of the next three
  following,
  copy_step,
  fill_step,
  copy,
  fill,
  argument,  // a buffer, or a piece
  piece,     // any of the next eight
  scalar,
  pointer,
  tensor_map,
  encoded_map,
  raw,
  structure,
  texture_handle,
  surface_handle,
  field,     // a piece with its offset
  contents,  // of a buffer or a variable: its keys stand among theirs
  buffer,
  generate,
  variable,
  tolerance,
  product,
  texture,
  measured,
};

struct Key {
  std::string_view name;
  Type type;
  std::string_view about;      // one line
  bool required = false;       // in its object
  std::string_view preset{};   // the value where it is left out, as it is written in JSON
  std::string_view without{};  // in words, what is taken then
  std::string_view unit{};     // of whole numbers and numbers
  int bits = 32;
  std::vector<std::string> (*choices)() = nullptr;
  Of inner = Of::launch;
  std::string_view since = "0.1";  // bitwell's version
};

struct Table {
  Of of;
  std::string_view name;  // "a buffer"
  std::string_view about;
  std::span<const Key> keys;
  std::span<const std::string_view> exactly_one{};  // of these keys there must be one
  bool named = false;                               // the first key is its name, by which refusals call it
  std::span<const Of> any_of{};                     // this object is one of these, told by their first key
};

}  // namespace bitwell::schema
