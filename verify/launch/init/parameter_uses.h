// What an entry does with its parameters, as far as its own PTX shows.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/ptx/syntax.h"

namespace bitwell::launch {

uint64_t bytes_of(const std::string& type);  // ".f32": 4
uint64_t size_of(const ptx::Variable& variable);

// Where an entry reads its parameters and as what, and which values it uses as addresses of global memory, as
// tensor maps, or as handles of textures and surfaces.
class ParameterUses {
 public:
  using Place = std::pair<std::string, uint64_t>;  // of a value: a parameter, and bytes into it

  explicit ParameterUses(const ptx::Function& entry);
  bool is_pointer(const Place& at) const { return pointers_.count(at) != 0; }
  // Whether it reads through the pointer, and not seen to do anything else.
  bool only_reads(const Place& at) const { return read_.count(at) != 0 && written_.count(at) == 0; }
  // ".f32", of what it loads and stores there, where that is always the same; else empty.
  std::string element(const Place& at) const;
  // Whether all instructions that ask for the sign of its value take it as signed, and one does.
  bool is_signed(const Place& at) const { return signed_.count(at) != 0 && unsigned_.count(at) == 0; }
  // The instruction whose object the value is (tex, suld or sust) and its geometry (.2d); else nullptr.
  const std::pair<std::string, std::string>* image(const Place& at) const;
  bool is_map(const std::string& parameter) const { return maps_.count(parameter) != 0; }
  bool is_used(const std::string& parameter) const {
    return reads_.count(parameter) != 0 || is_map(parameter);
  }
  // Types by offset, of the loads from a parameter.
  std::map<uint64_t, std::string> reads(const std::string& parameter) const;

 private:
  void visit(const std::vector<ptx::Statement>& body);
  void visit(const ptx::Instruction& instruction);
  void follow(const ptx::Instruction& instruction);
  void use(const ptx::Instruction& instruction, const Place& through);
  void load(const ptx::Instruction& instruction);
  void sign(const ptx::Instruction& instruction);

  std::map<std::string, Place> values_;           // by register
  std::map<std::string, std::string> addresses_;  // of parameters, by register
  std::map<std::string, std::map<uint64_t, std::string>> reads_;
  std::set<Place> pointers_, read_, written_, signed_, unsigned_;
  std::map<Place, std::set<std::string>> elements_;
  std::set<std::string> maps_;
  std::map<Place, std::pair<std::string, std::string>> images_;
};

}  // namespace bitwell::launch
