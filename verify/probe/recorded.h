// A probe's launch against what a GPU gave for it.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "verify/capture/captures.h"
#include "verify/capture/tuples.h"
#include "verify/probe/instruction.h"

namespace bitwell::probe {

// The launch whose digest a device run records.
launch::Launch recorded_launch(const Probe& probe);
// The same for who asks for many: the inputs that were drawn, by the types of the operands.
using Inputs = std::map<std::vector<std::string>, std::vector<launch::Buffer>>;
launch::Launch recorded_launch(const Probe& probe, Inputs& drawn);
std::string digest_of(const launch::Launch& ran);

// The 64 of its operand tuples whose raw words a device run records: every 1021st, so that boundary values,
// random ones and all low bits of enumerated operands are among them. Named with their place in the launch by
// `first_wrong` as they are counted here.
inline constexpr size_t kKeptTuples = 64;
std::vector<capture::Tuple> kept_tuples(const Probe& probe, const launch::Launch& ran);

// Of launches that are no list of operand tuples (tensor cores, copies): `count` of the 8-byte words that
// their outputs hold, one output after the other, spread evenly; a word's input is its offset in bytes.
std::vector<std::byte> outputs_of(const launch::Launch& ran);
std::vector<capture::Tuple> kept_words(std::span<const std::byte> outputs, size_t count);

// What is wrong with what recorded_launch(probe) left after it ran, in a line: digest, and the first wrong
// tuple where there are raw words; or, where the digest is right, that the raw words are not. Empty if all is
// as recorded.
std::string difference(const Probe& probe, const launch::Launch& ran, const capture::Capture& digests,
                       const std::optional<capture::Tuples>& words);
// The same of the outputs of the launch that is recorded by that name.
std::string difference(const std::string& name, std::span<const std::byte> outputs,
                       const capture::Capture& digests, const std::optional<capture::Tuples>& words);

}  // namespace bitwell::probe
