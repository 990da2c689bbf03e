#include "model/isa/form/uses.h"

#include <charconv>

namespace bitwell::isa {

namespace {
constexpr size_t kPrefixes = 16;
}

Uses FunctionUses::at(size_t instruction) const {
  const Head& head = heads_[instruction];
  const bool last = instruction + 1 == heads_.size();
  const size_t operands_end = last ? operands_.size() : heads_[instruction + 1].operands;
  const size_t touches_end = last ? touches_.size() : heads_[instruction + 1].touches;
  return {{operands_.data() + head.operands, operands_end - head.operands},
          {touches_.data() + head.touches, touches_end - head.touches},
          head.operands,
          head.carry,
          head.act,
          head.decides,
          head.behind_label,
          head.shape};
}

void FunctionUses::begin(bool behind_label) {
  Head& head = heads_.emplace_back();
  head.operands = static_cast<uint32_t>(operands_.size());
  head.touches = static_cast<uint32_t>(touches_.size());
  head.behind_label = behind_label;
}

void FunctionUses::add_constant(Use::Take take, uint64_t value) {
  if (constants_.empty() || constants_.back() != value) constants_.push_back(value);
  add(Use::Of::constant, take, static_cast<uint32_t>(constants_.size() - 1));
}

void FunctionUses::as(Use::Take take, size_t from) {
  for (; from < operands_.size(); ++from) operands_[from].take = take;
}

void FunctionUses::touch_there(Touch touch_of) {
  touch_of.address = static_cast<uint16_t>(operands_.size() - 1 - heads_.back().operands);
  touch(touch_of);
}

void FunctionUses::touch(const Touch& touch) {
  heads_.back().stated = true;
  touches_.push_back(touch);
}

void FunctionUses::act(Act act, uint32_t shape) {
  heads_.back().act = act;
  heads_.back().shape = shape;
}

uint32_t FunctionUses::add_variable(const std::string& name) {
  variables_.push_back(name);
  return static_cast<uint32_t>(variables_.size() - 1);
}

void FunctionUses::name_register(uint32_t number, std::string_view name) {
  size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  while (digits + 1 < name.size() && name[digits] == '0') ++digits;  // of what is declared so alone
  Name made;
  if (digits == name.size() ||
      std::from_chars(name.data() + digits, name.data() + name.size(), made.number).ec != std::errc())
    digits = name.size();
  const std::string_view prefix = name.substr(0, digits);
  // Ranges are few; of names without any the last ones are looked at.
  size_t at = prefixes_.size();
  for (size_t looked = 0; looked < kPrefixes && at > 0 && prefixes_[at - 1] != prefix; ++looked) --at;
  if (at == 0 || prefixes_[at - 1] != prefix) {
    prefixes_.emplace_back(prefix);
    at = prefixes_.size();
  }
  made.prefix = static_cast<uint32_t>(at - 1);
  if (names_.size() <= number) names_.resize(number + 1);
  names_[number] = made;
}

std::string FunctionUses::register_name(uint32_t number) const {
  const Name& name = names_[number];
  return prefixes_[name.prefix] + (name.number < 0 ? "" : std::to_string(name.number));
}

}  // namespace bitwell::isa
