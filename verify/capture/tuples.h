// Raw words that a GPU gave: some operand tuples of each instruction with their results, so that a digest
// that is not the recorded one leads to a first wrong bit where there is no GPU.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bitwell::capture {

struct Tuple {
  std::vector<uint64_t> inputs, results;  // words, the low bits used
};
struct Tuples {
  std::string device;  // "NVIDIA H200"
  std::string driver;
  std::map<std::string, std::vector<Tuple>> of;  // by instruction
};

// Text compressed by xz: a line "device ...", a line "driver ...", then for each instruction its name on a
// line and its tuples on the next ones, "inputs > results" in hexadecimal. Nothing if there is no such file.
// Throws machine::InputError naming the file, and the line that is none.
std::optional<Tuples> read_tuples(const std::string& path);
void write_tuples(const std::string& path, const Tuples& tuples);

// "tuple 3: 3f800000 40000000 => 40400001 expected 40400000" for the first that differs from the device's;
// the inputs that differ, where they do; empty where all are the same.
std::string first_wrong(const std::vector<Tuple>& of_device, const std::vector<Tuple>& got);

}  // namespace bitwell::capture
