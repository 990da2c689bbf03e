// Variable declarations and parameters (PTX ISA 9.0, chapter 5).
#pragma once
#include "model/ptx/reader.h"
#include "model/ptx/syntax.h"

namespace bitwell::ptx {

// variables = space attribute* type declarator ("," declarator)*; the ";" is left to the caller
std::vector<Variable> parse_variables(Reader& reader, const std::string& linkage);

// parameter = (".param" | ".reg") attribute* type attribute* declarator
Variable parse_parameter(Reader& reader);

}  // namespace bitwell::ptx
