// Keys of what an argument, or a field of a structure or of a buffer, may be.
#pragma once
#include <array>

#include "verify/schema/choices.h"
#include "verify/schema/key.h"

namespace bitwell::schema {

inline constexpr std::array kScalarKeys{
    Key{.name = "type",
        .type = Type::choice,
        .about = "the parameter's type: u unsigned, s signed, b bits, f floating point; an int is s32",
        .required = true,
        .choices = scalar_types},
    Key{.name = "value",
        .type = Type::any,
        .about = "a number; for f16, bf16 and f32 it is rounded to nearest even",
        .required = true},
};
inline constexpr std::array kPointerKeys{
    Key{.name = "pointer",
        .type = Type::text,
        .about = "a buffer that stands before it, or in \"buffers\"",
        .required = true},
    Key{.name = "offset",
        .type = Type::whole,
        .about = "how far into the buffer",
        .preset = "0",
        .unit = "bytes",
        .bits = 46},
};
inline constexpr std::array kTensorMapKeys{
    Key{.name = "tensor_map",
        .type = Type::text,
        .about = "the buffer that it is over, as for \"pointer\"",
        .required = true},
    Key{.name = "type",
        .type = Type::choice,
        .about = "of an element, as CUtensorMapDataType",
        .required = true,
        .choices = tensor_types},
    Key{.name = "dims",
        .type = Type::wholes,
        .about = "one to five extents, innermost first",
        .required = true,
        .unit = "elements",
        .bits = 64},
    Key{.name = "strides",
        .type = Type::wholes,
        .about = "of each dimension but the innermost; needed from two dimensions on",
        .unit = "bytes",
        .bits = 64},
    Key{.name = "box",
        .type = Type::wholes,
        .about = "what one copy brings, of each dimension",
        .required = true,
        .unit = "elements",
        .bits = 64},
    Key{.name = "element_strides",
        .type = Type::wholes,
        .about = "steps through each dimension",
        .without = "1 each",
        .unit = "elements",
        .bits = 64},
    Key{.name = "swizzle",
        .type = Type::choice,
        .about = "of the box in shared memory",
        .preset = "\"none\"",
        .choices = tensor_swizzles},
    Key{.name = "fill",
        .type = Type::choice,
        .about = "what elements outside the tensor are",
        .preset = "\"zero\"",
        .choices = tensor_fills},
    Key{.name = "l2_promotion",
        .type = Type::choice,
        .about = "as CUtensorMapL2promotion; it changes no bits",
        .preset = "\"256b\"",
        .choices = l2_promotions},
    Key{.name = "offset",
        .type = Type::whole,
        .about = "where the tensor begins in the buffer",
        .preset = "0",
        .unit = "bytes",
        .bits = 64},
};
inline constexpr std::array kEncodedMapKeys{
    Key{.name = "tensor_map",
        .type = Type::text,
        .about = "the buffer that it is over, as for \"pointer\"",
        .required = true},
    Key{.name = "encoded",
        .type = Type::path,
        .about = "the 128 bytes that cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col or bitwell/tensor_map.h "
                 "makes"},
    Key{.name = "bytes", .type = Type::digits, .about = "the same bytes, here"},
    Key{.name = "offset",
        .type = Type::whole,
        .about = "where the tensor begins in the buffer",
        .preset = "0",
        .unit = "bytes",
        .bits = 64},
};
inline constexpr std::array<std::string_view, 2> kEncodings{"encoded", "bytes"};
inline constexpr std::array kRawKeys{
    Key{.name = "bytes",
        .type = Type::digits,
        .about = "two hexadecimal digits for each byte, the lowest address first",
        .required = true}};
inline constexpr std::array kStructureKeys{
    Key{.name = "struct",
        .type = Type::objects,
        .about = "the fields, each with its offset; bytes between them are 0",
        .required = true,
        .inner = Of::field},
    Key{.name = "size",
        .type = Type::whole,
        .about = "of the structure",
        .without = "the end of its last field",
        .unit = "bytes"},
};
inline constexpr std::array kTextureHandleKeys{Key{.name = "texture",
                                                   .type = Type::text,
                                                   .about = "one of \"textures\": its cudaTextureObject_t",
                                                   .required = true}};
inline constexpr std::array kSurfaceHandleKeys{Key{.name = "surface",
                                                   .type = Type::text,
                                                   .about = "one of \"textures\": its cudaSurfaceObject_t",
                                                   .required = true}};
inline constexpr std::array kFieldKeys{Key{.name = "at",
                                           .type = Type::whole,
                                           .about = "the offset of the field",
                                           .required = true,
                                           .unit = "bytes",
                                           .bits = 46}};

}  // namespace bitwell::schema
