// Which part of a multiprocessor executes an instruction: what a model of time asks of it first.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace bitwell::isa {

enum class Unit : uint8_t {
  alu,            // integers, logic, comparisons, moves
  fma,            // products and sums of numbers of up to 32 bits
  fp64,           // of 64 bits
  sfu,            // approximations, counts of bits
  convert,        // between formats
  warp,           // values of other lanes
  load_store,     // memory, by addresses of lanes
  texture,        // textures and surfaces
  tensor,         // products of matrices
  tensor_memory,  // loads, stores and copies of it
  copy,           // bulk and tensor copies
  barrier,        // what is waited for, and what orders
  control         // branches, calls, ends
};
struct UnitName {
  Unit unit;
  std::string_view name;
};
inline constexpr std::array<UnitName, 13> kUnits{{{Unit::alu, "alu"},
                                                  {Unit::fma, "fma"},
                                                  {Unit::fp64, "fp64"},
                                                  {Unit::sfu, "sfu"},
                                                  {Unit::convert, "convert"},
                                                  {Unit::warp, "warp"},
                                                  {Unit::load_store, "load_store"},
                                                  {Unit::texture, "texture"},
                                                  {Unit::tensor, "tensor"},
                                                  {Unit::tensor_memory, "tensor_memory"},
                                                  {Unit::copy, "copy"},
                                                  {Unit::barrier, "barrier"},
                                                  {Unit::control, "control"}}};

// Of names that begin so and have the modifier, if one is given, the first row counts. What machine code
// makes several instructions of has the unit of most of them.
struct UnitRow {
  std::string_view begins, has;
  Unit unit;
};
std::span<const UnitRow> unit_rows();
// Of an opcode with its modifiers, the row that counts; nullptr: no form has such a name.
const UnitRow* unit_row(std::string_view name);

}  // namespace bitwell::isa
