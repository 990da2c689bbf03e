// PTX whose warps are late now and then, so that a kernel that is right by luck has less of it.
#pragma once
#include <string>

namespace bitwell::bugs {

// The module with a sleep before every instruction that reaches memory (parameters aside) or meets other
// threads: each warp draws, from its clock and its place along x, anew at every arrival, three times out of
// four nothing, else 0 to 2,047 ns of `nanosleep`, which sleeps from nothing to twice as long. The lanes of a
// warp that are together stay together. Nothing else changes, lines keep their numbers. Between the
// instructions of wgmma there is none: ptxas would then wait for each before the next. Throws
// ptx::SyntaxError.
std::string delayed(const std::string& ptx);

}  // namespace bitwell::bugs
