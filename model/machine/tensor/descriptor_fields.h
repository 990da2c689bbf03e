// The fields of descriptors by name, for people: what a word says, and how to write one. Whether a word is
// legal is for the decoders (matrix_descriptor.h, instruction_descriptor.h, column_mask.h), which do not use
// these rows.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/machine/tensor/instruction_descriptor.h"
#include "model/machine/tensor/matrix_descriptor.h"

namespace bitwell::machine {

struct DescriptorField {
  std::string name;
  int first, last;                                           // bits
  std::string about;                                         // what it is
  uint32_t unit = 1;                                         // what one unit of the bits stands for
  std::string of = {};                                       // what the number counts: "bytes"
  std::vector<std::pair<uint32_t, std::string>> names = {};  // of values; none: a number
  bool reserved = false;

  uint64_t value(uint64_t word) const;  // as it stands in the bits
  std::string meaning(uint64_t word) const;
  // The word with this field set, by one of its names or by a number of what it counts. Throws InputError.
  uint64_t set(uint64_t word, std::string_view text) const;
};

// From bit 0 up, what is reserved included: together every bit once.
std::vector<DescriptorField> matrix_descriptor_fields(DescriptorForm form);
std::vector<DescriptorField> instruction_descriptor_fields(MmaKind kind);
std::vector<DescriptorField> column_mask_fields();

// Zeros, but for fields that have one value only.
uint64_t blank_descriptor(const std::vector<DescriptorField>& fields);
// InputError, with those that there are, where none is called so.
const DescriptorField& descriptor_field(const std::vector<DescriptorField>& fields, std::string_view name);

}  // namespace bitwell::machine
