// What mma.sync and wgmma write alike: types, shapes, vectors of registers.
#pragma once
#include <string_view>
#include <vector>

#include "model/isa/form/builder.h"
#include "model/number/format.h"

namespace bitwell::isa {

// The format of a type such as ".e4m3"; ModelBug if there is none.
const number::Format& tensor_format(std::string_view type);

// The number after `letter` in a shape such as ".m16n8k32".
size_t extent(std::string_view shape, char letter);

// The registers of an operand's vector, each holding elements of `format`, appended to `out`.
void tensor_registers(Builder& b, const ptx::Operand& o, size_t count, const number::Format& format,
                      const char* what, std::vector<uint32_t>& out);

}  // namespace bitwell::isa
