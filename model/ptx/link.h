// What a linker does with relocatable device code (nvcc -rdc=true, cuLinkComplete), for PTX.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

namespace bitwell::ptx {

// The modules do not fit together. what() names what two of them define.
struct LinkError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Modules as one program has them. What one declares `.extern` and another defines makes one text of both,
// and so do `.weak` and `.common` variables that both have; the others stay as they are. In a joined text
// each name stands for one thing: `.visible` before `.weak`, the first of several `.weak`; what is known in
// its module alone gets another name where two modules have it. `.file` numbers, and the lines' names of
// functions, are each module's own still. What nobody defines is left to whoever compiles it. A text that is
// not PTX stays as it is.
std::vector<std::string> link(std::vector<std::string> modules);

// As above, but always one text: throws LinkError too where they are made for different targets, and
// SyntaxError.
std::string joined(const std::vector<std::string>& modules);

}  // namespace bitwell::ptx
