// bitwell descriptor
#include <fmt/format.h>

#include <charconv>
#include <exception>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/machine/failure.h"
#include "model/machine/tensor/column_mask.h"
#include "model/machine/tensor/descriptor_fields.h"
#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::table;
namespace {

using machine::DescriptorField;

struct DescriptorOptions {
  std::string word;
  std::vector<std::string> set;
  std::string form = "tcgen05";
  std::string kind = "mxf4nvf4";
  int cta_group = 1;
  bool stationary = false;
  uint32_t m = 128;
  bool json = false;
};

// As PTX writes constants: hexadecimal, decimal, or negative decimal, which is taken modulo 2^bits.
uint64_t parse_word(const std::string& text, int bits) {
  const auto refuse = [&] {
    throw machine::InputError("a descriptor is a whole number of " + std::to_string(bits) +
                              " bits, 0x... or decimal; got '" + text + "'");
  };
  const bool minus = text.starts_with("-");
  const bool hex = text.starts_with("0x");
  const std::string digits = text.substr(minus ? 1 : hex ? 2 : 0);
  uint64_t word = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), word, hex ? 16 : 10);
  const uint64_t most = bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  if (error != std::errc() || end != digits.data() + digits.size() || word > (minus ? most / 2 + 1 : most))
    refuse();
  return minus ? (0 - word) & most : word;
}

// Prints the word that `o` tells of, and why it is not legal where `decode`, which throws then, says so.
template <class Decode>
void show(const DescriptorOptions& o, const std::string& what, const std::vector<DescriptorField>& fields,
          int bits, Decode decode) {
  uint64_t word = o.word.empty() ? machine::blank_descriptor(fields) : parse_word(o.word, bits);
  for (const std::string& one : o.set) {
    const size_t equals = one.find('=');
    if (equals == std::string::npos) throw machine::InputError("--set takes FIELD=VALUE; got '" + one + "'");
    word = machine::descriptor_field(fields, one.substr(0, equals)).set(word, one.substr(equals + 1));
  }
  std::exception_ptr refused;
  std::string why;
  try {
    decode(word);
  } catch (const machine::Fault& e) {
    refused = std::current_exception();
    why = e.what();
  } catch (const machine::Unsupported& e) {
    refused = std::current_exception();
    why = e.what();
  }
  const std::string hex = fmt::format("0x{:0{}x}", word, bits / 4);
  if (o.json) {
    nlohmann::json j{{"descriptor", what}, {"word", hex}, {"legal", why.empty()}, {"why", why}};
    for (const DescriptorField& f : fields)
      j["fields"].push_back({{"name", f.name},
                             {"first_bit", f.first},
                             {"last_bit", f.last},
                             {"value", f.value(word)},
                             {"meaning", f.meaning(word)}});
    fmt::print("{}\n", strict_json::dumped(j, 2));
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const DescriptorField& f : fields)
      rows.push_back({f.name,
                      f.first == f.last ? std::to_string(f.first) : fmt::format("{}-{}", f.first, f.last),
                      fmt::format("0x{:x}", f.value(word)), f.meaning(word), f.about});
    fmt::print("{}\n{} = {}{}\n",
               table({{"field"}, {"bits", true}, {"value", true}, {"meaning"}, {"what it is"}}, rows), what,
               hex, why.empty() ? ": legal" : "");
  }
  if (refused) std::rethrow_exception(refused);
}

std::string field_names(const std::vector<DescriptorField>& fields) {
  std::string out;
  for (const DescriptorField& f : fields)
    if (!f.reserved) out += (out.empty() ? "" : ", ") + f.name;
  return out;
}

CLI::App* add_one(CLI::App& command, const std::string& name, const std::string& about,
                  const std::shared_ptr<DescriptorOptions>& o) {
  CLI::App* one = command.add_subcommand(name, about);
  one->add_option("WORD", o->word,
                  "The descriptor, 0x... or decimal; without it, one of zeros to set fields in");
  one->add_option("--set", o->set, "FIELD=VALUE, in this order; again for each field")
      ->allow_extra_args(false);
  one->add_flag("--json", o->json, "The fields as JSON");
  return one;
}

void add_matrix(CLI::App& command) {
  const auto o = std::make_shared<DescriptorOptions>();
  CLI::App* one = add_one(command, "matrix", "The 64-bit descriptor of a matrix in shared memory", o);
  one->add_option("--form", o->form, "Whose: tcgen05 or wgmma")
      ->check(CLI::IsMember({"tcgen05", "wgmma"}))
      ->capture_default_str();
  one->footer("Fields:  " + field_names(machine::matrix_descriptor_fields(machine::DescriptorForm::tcgen05)) +
              "\n         start, leading and stride in bytes; swizzle by name (128b)\n\n"
              "Examples:  bitwell descriptor matrix 0x4000404000010000\n"
              "           bitwell descriptor matrix --set start=0x8000 --set leading=16 --set stride=1024 "
              "--set swizzle=128b");
  one->callback([o] {
    const auto form = o->form == "wgmma" ? machine::DescriptorForm::wgmma : machine::DescriptorForm::tcgen05;
    show(*o, "matrix descriptor of " + o->form, machine::matrix_descriptor_fields(form), 64,
         [form](uint64_t word) { machine::decode_matrix_descriptor(form, word); });
  });
}

void add_instruction(CLI::App& command) {
  const auto o = std::make_shared<DescriptorOptions>();
  CLI::App* one = add_one(command, "instruction", "The 32-bit instruction descriptor of tcgen05.mma", o);
  const std::vector<std::string> kinds(std::begin(machine::kMmaKinds), std::end(machine::kMmaKinds));
  one->add_option("--kind", o->kind, "Of the instruction, which says what the bits mean")
      ->check(CLI::IsMember(kinds))
      ->capture_default_str();
  one->add_option("--cta-group", o->cta_group, "Of the instruction, which says what M and N may be")
      ->check(CLI::IsMember({1, 2}))
      ->capture_default_str();
  one->add_flag("--ws", o->stationary, "Of tcgen05.mma.ws, which has other M and N, and max_shift");
  one->footer(
      "Fields:  " + field_names(machine::instruction_descriptor_fields(machine::MmaKind::mxf4nvf4)) +
      "\n         and in kinds without scales: " +
      "saturate, d_type, max_shift\n         m and n as they are (128); types by name (e2m1)\n\n"
      "Examples:  bitwell descriptor instruction 0x08200480\n"
      "           bitwell descriptor instruction --kind f16 --set d_type=f32 --set m=128 --set n=256");
  one->callback([o] {
    auto kind = machine::MmaKind::f16;
    for (size_t k = 0; k < std::size(machine::kMmaKinds); ++k)
      if (o->kind == machine::kMmaKinds[k]) kind = static_cast<machine::MmaKind>(k);
    show(*o,
         fmt::format("instruction descriptor of kind::{}, cta_group::{}{}", o->kind, o->cta_group,
                     o->stationary ? ", .ws" : ""),
         machine::instruction_descriptor_fields(kind), 32, [&](uint64_t word) {
           machine::decode_instruction_descriptor(kind, o->cta_group, static_cast<uint32_t>(word),
                                                  o->stationary);
         });
  });
}

void add_zero_columns(CLI::App& command) {
  const auto o = std::make_shared<DescriptorOptions>();
  CLI::App* one =
      add_one(command, "zero-columns", "The 64-bit zero-column mask descriptor of tcgen05.mma.ws", o);
  one->add_option("--m", o->m, "Of the instruction, which says how far columns may be moved")
      ->check(CLI::IsMember({32, 64, 128}))
      ->capture_default_str();
  one->footer("Fields:  " + field_names(machine::column_mask_fields()) +
              "\n\nExample:  bitwell descriptor zero-columns --set masks=yes --set zeros=2 --set used=3");
  one->callback([o] {
    show(*o, fmt::format("zero-column mask descriptor with M = {}", o->m), machine::column_mask_fields(), 64,
         [&](uint64_t word) { machine::decode_column_mask(word, o->m, 256, 32); });
  });
}

}  // namespace

void add_descriptor(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "descriptor", "What a descriptor of the tensor cores or a tensor map says, field by field");
  command->require_subcommand(1);
  add_matrix(*command);
  add_instruction(*command);
  add_zero_columns(*command);
  add_tensor_map(*command);
  command->footer(
      "A descriptor that the instruction does not take is shown too; the field at fault and its bits are\n"
      "then named on stderr (exit status 1; 3 where bitwell does not execute it). Legal is what the word\n"
      "alone can say: whether a matrix lies in shared memory and scales fit is checked when it is used.\n\n"
      "Example:  bitwell descriptor instruction 0x08200480 --kind mxf4nvf4");
}

}  // namespace bitwell::cli
