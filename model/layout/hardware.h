// The layouts that hardware and libraries fix: which logical element stands at which address. Each is a CuTe
// layout from logical coordinates to bytes, with its source and how it is known.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/layout/swizzle.h"

namespace bitwell::layout {

enum class Space : uint8_t { global, shared, tensor };

// A tensor-memory address in bytes is lane * 2^18 + column * 4 + byte, as CuTe counts it. PTX ISA 9.0,
// 9.7.16.1: 128 lanes, 512 columns of 32 bits a CTA.
inline constexpr int64_t kLane = int64_t{1} << 18;
inline constexpr int64_t kColumn = 4;
inline constexpr int64_t kCta = kLane << 16;  // of a pair: from the even one to the odd one; ours
struct TensorAddress {
  int64_t lane, column, byte;
  int64_t cta = 0;  // of the pair
  bool operator==(const TensorAddress&) const = default;
};
TensorAddress tensor_address(int64_t bytes);

// One logical coordinate: its name and extent.
struct Axis {
  std::string name;
  int64_t extent;
};

struct Hardware {
  std::string name;
  std::vector<Axis> axes;  // mode i of the layout
  Composed layout;         // to units
  Space space;
  int64_t unit_bits = 8;  // of an offset: 8, or 4 for packed FP4 elements
  int64_t region = 0;     // units set aside, padding included
  int ctas = 1;           // whose tensor memory it takes: one, or a pair's
  std::string source;
  std::string evidence;
  std::vector<std::string> notes;
};

// The coordinate whose element stands at `offset`, or nothing: padding, or beyond the layout.
std::optional<Tuple> coordinate_at(const Hardware& h, int64_t offset);

// Values by name, as a command line gives them; the builders take what they know and refuse the rest.
using Parameters = std::map<std::string, std::string>;

struct ParameterHelp {
  const char* name;
  const char* preset;  // the default
  const char* what;
};
struct Named {
  const char* name;
  const char* summary;
  std::vector<ParameterHelp> parameters;
  Hardware (*build)(const Parameters& all);  // every parameter is there
};

const std::vector<Named>& named_layouts();
// Throws LayoutError on an unknown name, an unknown parameter, or a value that no hardware has.
Hardware named_layout(const std::string& name, const Parameters& given);

// For the builders. LayoutError names the parameter.
int64_t number(const Parameters& all, const char* name, int64_t least, int64_t most);
std::string choice(const Parameters& all, const char* name, const std::vector<std::string>& of);

}  // namespace bitwell::layout
