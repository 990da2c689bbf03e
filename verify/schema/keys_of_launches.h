// Keys of launches: the whole file, and what follows under "then".
#pragma once
#include <array>

#include "verify/schema/joined.h"

namespace bitwell::schema {

// How a launch is laid out, the first one and those that follow.
inline constexpr std::array kShapeKeys{
    Key{.name = "grid",
        .type = Type::extents,
        .about = "CTAs (thread blocks), as `<<<grid, block>>>` has them; of an entry with .blocksareclusters "
                 "clusters",
        .preset = "1",
        .unit = "CTAs"},
    Key{.name = "block",
        .type = Type::extents,
        .about = "threads of a CTA",
        .preset = "1",
        .unit = "threads"},
    Key{.name = "cluster",
        .type = Type::extents,
        .about =
            "CTAs of a cluster, where the launch names it, of one CTA too (%is_explicit_cluster); what the "
            "entry's .reqnctapercluster says must be the same",
        .preset = "1",
        .unit = "CTAs"},
    Key{.name = "non_portable_cluster",
        .type = Type::flag,
        .about = "clusters of more than 8 CTAs, of 16 at most on sm_90, sm_100, sm_103 and sm_120, as "
                 "cudaFuncAttributeNonPortableClusterSizeAllowed allows them",
        .preset = "false"},
    Key{.name = "dynamic_shared_bytes",
        .type = Type::whole,
        .about = "dynamic shared memory of a CTA, the third of `<<<...>>>`",
        .preset = "0",
        .unit = "bytes"},
    Key{.name = "registers",
        .type = Type::whole,
        .about = "of a thread, as ptxas -v prints them: with them it is known how many CTAs are resident",
        .without = "not known",
        .unit = "registers"},
    Key{.name = "cooperative",
        .type = Type::flag,
        .about = "a cooperative launch: refused where not all CTAs are resident at once; grid.sync() works",
        .preset = "false"},
};

inline constexpr std::array kLaunchKeys = joined(
    std::array{
        Key{.name = "$schema",
            .type = Type::text,
            .about = "launch.schema.json, for editors; bitwell does not read it"},
        Key{.name = "ptx",
            .type = Type::path,
            .about = "the PTX file, or another file that holds PTX (cubin, fat binary, program)",
            .required = true},
        Key{.name = "entry",
            .type = Type::text,
            .about = "the kernel: its name, or a part of it that no other has, mangled or as in C++",
            .required = true},
    },
    kShapeKeys,
    std::array{
        Key{.name = "arguments",
            .type = Type::objects,
            .about = "one for each parameter of the kernel, in their order",
            .without = "none",
            .inner = Of::argument},
        Key{.name = "buffers",
            .type = Type::objects,
            .about = "buffers that are no arguments: what pointers, tensor maps and textures lead to",
            .without = "none",
            .inner = Of::buffer},
        Key{.name = "textures",
            .type = Type::objects,
            .about = "textures and surfaces",
            .without = "none",
            .inner = Of::texture},
        Key{.name = "variables",
            .type = Type::objects,
            .about = "`__device__` and `__constant__` variables that get values or are read",
            .without = "none",
            .inner = Of::variable},
        Key{.name = "heap",
            .type = Type::whole,
            .about = "memory that the kernel's malloc may give",
            .without = "8 MiB",
            .unit = "bytes",
            .bits = 46},
        Key{.name = "fmad",
            .type = Type::flag,
            .about = "products and sums fused where ptxas fuses them, which is asked: `bitwell run --fmad`",
            .preset = "false"},
        Key{.name = "then",
            .type = Type::objects,
            .about = "what follows on the same stream, with the same buffers: launches, copies and fills",
            .without = "nothing",
            .inner = Of::step},
    });

inline constexpr std::array kFollowingKeys = joined(
    std::array{
        Key{.name = "entry", .type = Type::text, .about = "the kernel", .required = true},
        Key{.name = "ptx",
            .type = Type::path,
            .about = "the PTX file, or another file that holds PTX (cubin, fat binary, program)",
            .without = "the first launch's"},
    },
    kShapeKeys,
    std::array{
        Key{.name = "programmatic_stream_serialization",
            .type = Type::flag,
            .about = "CUDA's attribute: it may start before the launch in front of it has ended",
            .preset = "false"},
        Key{.name = "arguments",
            .type = Type::objects,
            .about = "one for each parameter of the kernel, in their order",
            .without = "none",
            .inner = Of::argument},
    });

inline constexpr std::array kCopyStepKeys{Key{.name = "copy",
                                              .type = Type::object,
                                              .about = "a copy from one buffer to another",
                                              .required = true,
                                              .inner = Of::copy}};
inline constexpr std::array kFillStepKeys{Key{.name = "fill",
                                              .type = Type::object,
                                              .about = "a fill of a buffer, as cudaMemset makes it",
                                              .required = true,
                                              .inner = Of::fill}};
inline constexpr std::array kCopyKeys{
    Key{.name = "from", .type = Type::text, .about = "a buffer", .required = true},
    Key{.name = "to", .type = Type::text, .about = "a buffer", .required = true},
    Key{.name = "from_offset",
        .type = Type::whole,
        .about = "where the copy begins in 'from'",
        .preset = "0",
        .unit = "bytes",
        .bits = 46},
    Key{.name = "to_offset",
        .type = Type::whole,
        .about = "where it begins in 'to'",
        .preset = "0",
        .unit = "bytes",
        .bits = 46},
    Key{.name = "bytes",
        .type = Type::whole,
        .about = "how many",
        .without = "the size of 'from'",
        .unit = "bytes",
        .bits = 46},
};
inline constexpr std::array kFillKeys{
    Key{.name = "buffer", .type = Type::text, .about = "the buffer", .required = true},
    Key{.name = "offset",
        .type = Type::whole,
        .about = "where the fill begins",
        .preset = "0",
        .unit = "bytes",
        .bits = 46},
    Key{.name = "bytes",
        .type = Type::whole,
        .about = "how many",
        .without = "the size of the buffer",
        .unit = "bytes",
        .bits = 46},
    Key{.name = "value", .type = Type::whole, .about = "what each byte becomes", .preset = "0", .bits = 8},
};

}  // namespace bitwell::schema
