// Texts whose words are in the dictionary.
#include "verify/fuzz/mutate_text.h"

namespace bitwell::fuzz {

const size_t kBytes = 3;
std::string compound_name(Random&) { return ""; }

std::string statement(Random&) { return ""; }

}  // namespace bitwell::fuzz
