// Every object of LAUNCH.json with its keys (keys_of_*.h): the one place where a key is declared. fields.h
// reads no other.
#pragma once
#include <array>

#include "verify/schema/keys_of_launches.h"
#include "verify/schema/keys_of_memory.h"
#include "verify/schema/keys_of_values.h"

namespace bitwell::schema {

// Objects of one kind that are told by their first key: one with a key that begins another stands before it.
inline constexpr std::array kSteps{Of::copy_step, Of::fill_step, Of::following};
inline constexpr std::array kPieces{
    Of::encoded_map, Of::tensor_map, Of::texture_handle, Of::surface_handle, Of::pointer,
    Of::scalar,      Of::raw,        Of::structure};
inline constexpr std::array kArguments{
    Of::buffer,  Of::encoded_map, Of::tensor_map, Of::texture_handle, Of::surface_handle,
    Of::pointer, Of::scalar,      Of::raw,        Of::structure};

// Every object, in the order of docs/launch-file.md.
inline constexpr std::array kTables{
    Table{.of = Of::launch, .name = "the launch", .about = "The whole file.", .keys = kLaunchKeys},
    Table{.of = Of::shape, .name = "the shape of a launch", .about = "", .keys = kShapeKeys},
    Table{.of = Of::argument,
          .name = "an argument",
          .about = "One of the parameters of the kernel: a buffer, whose address is passed, or a value.",
          .keys = {},
          .any_of = kArguments},
    Table{.of = Of::piece, .name = "a value", .about = "", .keys = {}, .any_of = kPieces},
    Table{.of = Of::buffer,
          .name = "a buffer",
          .about = "Global memory. As an argument its address is passed; in \"buffers\" it is there for "
                   "others to point to. It needs one of npy, bin, values, zeros, generate, unwritten.",
          .keys = kBufferKeys,
          .exactly_one = kSources,
          .named = true},
    Table{.of = Of::contents, .name = "contents", .about = "", .keys = kContentsKeys},
    Table{.of = Of::generate,
          .name = "generate",
          .about = "Numbers for a buffer or a variable.",
          .keys = kGenerateKeys},
    Table{.of = Of::tolerance,
          .name = "tolerance",
          .about = "Either ulp, or rtol and atol.",
          .keys = kToleranceKeys},
    Table{.of = Of::product,
          .name = "product",
          .about = "Beside \"expected\": the output is alpha * A * B, plus what depends on neither A nor B.",
          .keys = kProductKeys},
    Table{.of = Of::scalar,
          .name = "a number",
          .about = "A parameter, or a field, of a plain type.",
          .keys = kScalarKeys},
    Table{.of = Of::pointer,
          .name = "a pointer",
          .about = "The address of a buffer that stands elsewhere.",
          .keys = kPointerKeys},
    Table{.of = Of::structure,
          .name = "a structure",
          .about = "A parameter that is a struct, or a struct in one.",
          .keys = kStructureKeys},
    Table{.of = Of::field,
          .name = "a field",
          .about = "Of a structure, or of a buffer: any value (a number, a pointer, a structure, raw bytes, "
                   "a tensor map, a texture or a surface), and where it stands.",
          .keys = kFieldKeys,
          .any_of = kPieces},
    Table{.of = Of::raw,
          .name = "raw bytes",
          .about = "A parameter, or a field, byte by byte.",
          .keys = kRawKeys},
    Table{.of = Of::tensor_map,
          .name = "a tensor map",
          .about = "A CUtensorMap (TMA descriptor), as cuTensorMapEncodeTiled would be asked for it.",
          .keys = kTensorMapKeys},
    Table{.of = Of::encoded_map,
          .name = "an encoded tensor map",
          .about = "A CUtensorMap as its 128 bytes; it needs encoded or bytes.",
          .keys = kEncodedMapKeys,
          .exactly_one = kEncodings},
    Table{.of = Of::texture,
          .name = "a texture",
          .about = "An array of texels over a buffer, read by tex and suld, written by sust.",
          .keys = kTextureKeys},
    Table{.of = Of::texture_handle,
          .name = "a texture object",
          .about = "A parameter, or a field, that is a cudaTextureObject_t.",
          .keys = kTextureHandleKeys},
    Table{.of = Of::surface_handle,
          .name = "a surface object",
          .about = "A parameter, or a field, that is a cudaSurfaceObject_t.",
          .keys = kSurfaceHandleKeys},
    Table{.of = Of::variable,
          .name = "a variable",
          .about = "A `__device__` or `__constant__` variable: it needs contents, an output, or both.",
          .keys = kVariableKeys,
          .named = true},
    Table{.of = Of::step,
          .name = "a step of \"then\"",
          .about = "A launch, a copy or a fill.",
          .keys = {},
          .any_of = kSteps},
    Table{.of = Of::following,
          .name = "a launch that follows",
          .about = "One of \"then\".",
          .keys = kFollowingKeys},
    Table{
        .of = Of::copy_step, .name = "a copy as a step", .about = "One of \"then\".", .keys = kCopyStepKeys},
    Table{.of = Of::copy, .name = "copy", .about = "From one buffer to another.", .keys = kCopyKeys},
    Table{
        .of = Of::fill_step, .name = "a fill as a step", .about = "One of \"then\".", .keys = kFillStepKeys},
    Table{.of = Of::fill, .name = "fill", .about = "Of a buffer.", .keys = kFillKeys},
    Table{.of = Of::measured,
          .name = "measured",
          .about = "Events around launches of it, each with cold caches.",
          .keys = kMeasuredKeys},
};

constexpr const Table& table(Of of) {
  for (const Table& t : kTables)
    if (t.of == of) return t;
  throw "an object without a table";
}

// nullptr: the table has no such key.
constexpr const Key* find(Of of, std::string_view name) {
  for (const Key& key : table(of).keys)
    if (key.name == name) return &key;
  return nullptr;
}
// For constants: g++ 13 compares no such pointer with nullptr there under the undefined-behaviour sanitizer.
constexpr bool has(Of of, std::string_view name) {
  for (const Key& key : table(of).keys)
    if (key.name == name) return true;
  return false;
}

}  // namespace bitwell::schema
