// PTX's fundamental types (PTX ISA 9.0, 5.2) and which register an instruction type may name (9.3, "Type
// Information").
#pragma once
#include <array>
#include <string_view>

namespace bitwell::isa {

struct Type {
  std::string_view name;  // with its dot
  int bits;
  char kind;  // b, u, s, f (fp16 .. fp64), x (packed pair), p (predicate)
};

inline constexpr std::array<Type, 24> types{
    {{".b8", 8, 'b'},     {".b16", 16, 'b'},   {".b32", 32, 'b'},   {".b64", 64, 'b'},    {".b128", 128, 'b'},
     {".u8", 8, 'u'},     {".u16", 16, 'u'},   {".u32", 32, 'u'},   {".u64", 64, 'u'},    {".s8", 8, 's'},
     {".s16", 16, 's'},   {".s32", 32, 's'},   {".s64", 64, 's'},   {".f16", 16, 'f'},    {".bf16", 16, 'b'},
     {".f32", 32, 'f'},   {".f64", 64, 'f'},   {".f16x2", 32, 'x'}, {".bf16x2", 32, 'b'}, {".tf32", 32, 'b'},
     {".u16x2", 32, 'u'}, {".s16x2", 32, 's'}, {".pred", 1, 'p'},   {".f32x2", 64, 'b'}}};

// The row of that name, or nullptr.
constexpr const Type* find_type(std::string_view name) {
  for (const Type& t : types)
    if (t.name == name) return &t;
  return nullptr;
}

// Whether a type is one of bits only.
constexpr bool untyped(const Type& t) { return t.name.starts_with(".b") && !t.name.starts_with(".bf"); }

// Whether a register declared `reg` may stand where an instruction wants `want`: same size; untyped matches
// anything; integers match integers; floating point matches only itself (or untyped).
constexpr bool kinds_agree(const Type& want, const Type& reg) {
  if ((want.kind == 'p') != (reg.kind == 'p')) return false;
  if (want.name == ".tf32") return reg.kind == 'b';
  if (want.kind == 'b' || reg.kind == 'b') return !want.name.starts_with(".bf16") || reg.kind != 'f';
  const bool want_integer = want.kind == 'u' || want.kind == 's';
  const bool reg_integer = reg.kind == 'u' || reg.kind == 's';
  if (want_integer || reg_integer) return want_integer && reg_integer;
  return want.name == reg.name;
}
constexpr bool agrees(const Type& want, const Type& reg) {
  return want.bits == reg.bits && kinds_agree(want, reg);
}

}  // namespace bitwell::isa
