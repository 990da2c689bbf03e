// What the mutations of a text (mutate_text.cpp) want from a language.
#pragma once
#include <random>
#include <string>

namespace bitwell::fuzz {

using Random = std::minstd_rand;
inline size_t below(Random& random, size_t n) { return random() % n; }

// One mutation in so many is libFuzzer's own: bytes, and words of the dictionary.
extern const size_t kBytes;

// What may stand for a name with dots, such as add.rn.f32; or "".
std::string compound_name(Random& random);

// A statement of the language, with its separator; or "".
std::string statement(Random& random);

}  // namespace bitwell::fuzz
