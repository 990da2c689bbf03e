#include "verify/launch/init/signature.h"

#include <algorithm>
#include <array>

namespace bitwell::launch {
namespace {

// The last word of a type, without its vector's size; what it is in a launch file.
struct Row {
  std::string_view name, format, element, scalar;
};
constexpr std::array kTypes{
    Row{"float", "", "f4", "f32"},
    Row{"double", "", "f8", "f64"},
    Row{"bool", "", "b1", "u8"},
    Row{"char", "", "i1", "s8"},
    Row{"signed char", "", "i1", "s8"},
    Row{"unsigned char", "", "u1", "u8"},
    Row{"short", "", "i2", "s16"},
    Row{"unsigned short", "", "u2", "u16"},
    Row{"int", "", "i4", "s32"},
    Row{"unsigned int", "", "u4", "u32"},
    Row{"long", "", "i8", "s64"},
    Row{"unsigned long", "", "u8", "u64"},
    Row{"long long", "", "i8", "s64"},
    Row{"unsigned long long", "", "u8", "u64"},
    Row{"float2", "", "f4", ""},
    Row{"float4", "", "f4", ""},
    Row{"int2", "", "i4", ""},
    Row{"int4", "", "i4", ""},
    Row{"uint2", "", "u4", ""},
    Row{"uint4", "", "u4", ""},
    Row{"__half", "", "f2", "f16"},
    Row{"__half2", "", "f2", ""},
    Row{"c10::Half", "", "f2", "f16"},
    Row{"cutlass::half_t", "", "f2", "f16"},
    Row{"__nv_bfloat16", "bf16", "", "bf16"},
    Row{"__nv_bfloat162", "bf16", "", ""},
    Row{"c10::BFloat16", "bf16", "", "bf16"},
    Row{"cutlass::bfloat16_t", "bf16", "", "bf16"},
    Row{"__nv_fp8_e4m3", "e4m3", "", ""},
    Row{"__nv_fp8x2_e4m3", "e4m3", "", ""},
    Row{"__nv_fp8x4_e4m3", "e4m3", "", ""},
    Row{"cutlass::float_e4m3_t", "e4m3", "", ""},
    Row{"__nv_fp8_e5m2", "e5m2", "", ""},
    Row{"__nv_fp8x2_e5m2", "e5m2", "", ""},
    Row{"__nv_fp8x4_e5m2", "e5m2", "", ""},
    Row{"cutlass::float_e5m2_t", "e5m2", "", ""},
    Row{"__nv_fp4x2_e2m1", "e2m1", "", ""},
    Row{"__nv_fp4x4_e2m1", "e2m1", "", ""},
    Row{"__nv_fp8_e8m0", "ue8m0", "", ""},
    Row{"cutlass::float_ue8m0_t", "ue8m0", "", ""},
    Row{"cutlass::float_ue4m3_t", "ue4m3", "", ""},
};

// `text` without `end`, where it ends so.
bool strip(std::string& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.erase(text.size() - end.size());
  return true;
}

Parameter parameter(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  Parameter out;
  out.type = text;
  std::string of = text;
  while (strip(of, " __restrict__") || strip(of, " const") || strip(of, " volatile")) {
  }
  out.pointer = strip(of, "*");
  if (out.pointer) out.read_only = strip(of, " const");
  const auto row = std::find_if(kTypes.begin(), kTypes.end(), [&](const Row& r) { return r.name == of; });
  if (row == kTypes.end()) return out;
  out.format = row->format;
  out.element = row->element;
  if (!out.pointer) out.scalar = row->scalar;
  return out;
}

// Where the parentheses open that close at the end of the name.
size_t opening(const std::string& name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    depth += name[i] == ')' ? 1 : name[i] == '(' ? -1 : 0;
    if (depth == 0) return i;
  }
  return std::string::npos;
}

}  // namespace

std::vector<Parameter> parameters_of(const std::string& demangled) {
  if (!demangled.ends_with(")")) return {};
  const size_t open = opening(demangled);
  if (open == std::string::npos) return {};
  std::vector<Parameter> out;
  std::string text;
  int depth = 0;
  for (size_t i = open + 1; i < demangled.size(); ++i) {
    const char c = demangled[i];
    const bool last = i + 1 == demangled.size();
    if (last || (c == ',' && depth == 0)) {
      if (!text.empty()) out.push_back(parameter(text));
      text.clear();
      continue;
    }
    depth += c == '(' || c == '<' || c == '[' ? 1 : c == ')' || c == '>' || c == ']' ? -1 : 0;
    text += c;
  }
  return out;
}

std::vector<Parameter> tensors_of(const std::string& name) {
  constexpr std::string_view begin = "tensorptr", end = "gmem";
  constexpr std::array types{
      Row{"f32", "", "f4", ""},      Row{"f64", "", "f8", ""},          Row{"f16", "", "f2", ""},
      Row{"i8", "", "i1", ""},       Row{"i16", "", "i2", ""},          Row{"i32", "", "i4", ""},
      Row{"i64", "", "i8", ""},      Row{"bf16", "bf16", "", ""},       Row{"f8E4M3FN", "e4m3", "", ""},
      Row{"f8E5M2", "e5m2", "", ""}, Row{"f8E8M0FNU", "ue8m0", "", ""}, Row{"f4E2M1FN", "e2m1", "", ""}};
  std::vector<Parameter> out;
  if (!name.starts_with("kernel_cutlass_")) return out;
  for (size_t at = name.find(begin); at != std::string::npos; at = name.find(begin, at + 1)) {
    const size_t stop = name.find(end, at);
    const std::string of = name.substr(at + begin.size(), stop - at - begin.size());
    Parameter p;
    p.type = "a tensor of " + of;
    p.pointer = true;
    const auto row = std::find_if(types.begin(), types.end(), [&](const Row& r) { return r.name == of; });
    if (row != types.end()) p.format = row->format, p.element = row->element;
    out.push_back(std::move(p));
  }
  return out;
}

}  // namespace bitwell::launch
