// What of a PTX file one entry needs.
#pragma once
#include <string>

#include "model/isa/compile/module.h"

namespace bitwell::launch {

// The text of a PTX file, or what a cubin, a fat binary, an object file or a program holds for the newest
// device; of several texts there, the one with the entry that name_among takes `entry` for. InputError where
// there is none, or the file is something else that nvcc makes or takes: what it is, and how its PTX is had.
std::string read_ptx(const std::string& path, const std::string& entry = "");

// The whole name of the entry that name_among takes `entry` for. InputError names the file.
std::string entry_of(const isa::Module& module, const std::string& entry);

}  // namespace bitwell::launch
