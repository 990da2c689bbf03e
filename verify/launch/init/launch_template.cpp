#include "verify/launch/init/launch_template.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "model/run/stuck/nearby.h"
#include "model/strict_json/write.h"
#include "verify/launch/file/names.h"
#include "verify/launch/init/parameter_uses.h"
#include "verify/launch/init/signature.h"
#include "verify/schema/tables.h"

namespace bitwell::launch {
namespace {

using Ordered = nlohmann::ordered_json;
using schema::Of;

constexpr uint64_t kUnused = 16;               // bytes of a buffer that nobody uses
constexpr uint64_t kMapBytes = 128;            // of a tensor map, which is aligned to 64
constexpr std::nullptr_t kToFillIn = nullptr;  // the reader refuses it, and says where it stands

// "grid: CTAs ...", as the table has it.
std::string said(Of of, std::string_view key) {
  return std::string(key) + ": " + std::string(schema::find(of, key)->about);
}
std::string others(std::string_view instead_of) {
  std::string out = "; or, in place of " + std::string(instead_of) + ",";
  std::string_view before;
  for (const std::string_view key : schema::kSources) {
    if (key == instead_of) continue;
    if (!before.empty()) out += " " + std::string(before) + ",";
    before = key;
  }
  return out + " or " + std::string(before);
}

// What a type of PTX is in a launch file, without its dot: .pred has no value of its own.
std::string scalar_of(const std::string& type, bool is_signed) {
  if (type == ".pred") return "u8";
  if (is_signed && (type[1] == 'u' || type[1] == 'b')) return "s" + type.substr(2);
  return type.substr(1);
}

class Writer {
 public:
  Writer(const ptx::Function& entry, bool of_triton, Ordered& buffers, Ordered& textures)
      : uses_(entry), buffers_(buffers), textures_(textures) {
    const std::string plain = run::readable(entry.name);
    if (plain != entry.name) signature_ = plain;
    types_ = parameters_of(signature_);
    typed_ = types_.size() == entry.params.size();
    if (!typed_) types_.assign(entry.params.size(), {});
    name_tensors(entry);
    for (size_t i = 0; i < entry.params.size(); ++i) names_.push_back("p" + std::to_string(i));
    if (of_triton && names_.size() >= 2) {
      names_[names_.size() - 2] = "global_scratch";
      names_.back() = "profile_scratch";
    }
  }
  const std::string& signature() const { return signature_; }

  Ordered argument(const ptx::Variable& p, size_t number) {
    const std::string& name = names_[number];
    const Parameter& type = types_[number];
    const uint64_t size = size_of(p);
    if (size == sizeof(uint64_t) && (uses_.is_pointer({p.name, 0}) || type.pointer))
      return buffer({p.name, 0}, name, type);
    if (uses_.image({p.name, 0}) != nullptr && p.dims.empty()) return image(*uses_.image({p.name, 0}), name);
    if (p.dims.empty() && p.vector == 1)
      return number_of(scalar_of(p.type, uses_.is_signed({p.name, 0})), type);
    if (uses_.is_map(p.name) && size == kMapBytes) return map(name);
    if (!uses_.is_used(p.name))
      return {{"bytes", std::string(2 * size, '0')}, {"//", "the kernel does not read this parameter"}};
    return structure(p, name, size);
  }

 private:
  // The CuTe DSL's tensors are in the order of the parameters that lead to memory.
  void name_tensors(const ptx::Function& entry) {
    const std::vector<Parameter> tensors = tensors_of(entry.name);
    std::vector<size_t> at;
    for (size_t i = 0; i < entry.params.size(); ++i)
      if (uses_.is_pointer({entry.params[i].name, 0})) at.push_back(i);
    if (at.size() != tensors.size()) return;
    for (size_t i = 0; i < at.size(); ++i) types_[at[i]] = tensors[i];
  }

  // Written to before or after, as its type says; without one, as the instructions show.
  Ordered buffer(const ParameterUses::Place& at, const std::string& name, const Parameter& type) const {
    Ordered out{{"buffer", name}};
    const std::string what = type.type.empty() ? name : type.type;
    if (name.ends_with("_scratch")) {
      const bool used = uses_.is_used(at.first);
      out["zeros"] = used ? Ordered(kToFillIn) : Ordered(kUnused);
      out["//"] = used ? "Triton's own: " + name + "_size of the kernel's metadata for each CTA"
                       : "Triton's own, which the kernel does not use";
      return out;
    }
    std::string_view element = type.element;
    if (type.type.empty() && type.format.empty()) element = element_of(uses_.element(at));
    const bool input = typed_ ? type.read_only : uses_.only_reads(at);
    if (input) {
      out["npy"] = kToFillIn;
      if (!type.format.empty()) out["format"] = type.format;
      out["read_only"] = true;
      out["//"] = what + ", an input: a file" + (element.empty() ? "" : " of " + std::string(element)) +
                  others("npy");
      return out;
    }
    out["zeros"] = kToFillIn;
    if (!type.format.empty()) out["format"] = type.format;
    if (type.format.empty() && !element.empty()) out["dtype"] = element;
    out["output"] = name + ".npy";
    out["//"] = what + ": how many bytes" + others("zeros");
    return out;
  }
  // Of a load or store: ".f32" is f4; of .b32 and .u32 nobody knows.
  static std::string_view element_of(const std::string& type) {
    if (type == ".f32") return "f4";
    if (type == ".f64") return "f8";
    return type == ".f16" ? "f2" : "";
  }
  static Ordered number_of(const std::string& type, const Parameter& parameter) {
    Ordered out{{"type", parameter.scalar.empty() ? type : std::string(parameter.scalar)},
                {"value", kToFillIn}};
    if (!parameter.type.empty()) out["//"] = parameter.type;
    return out;
  }
  Ordered map(const std::string& name) {
    buffers_.push_back({{"buffer", name},
                        {"zeros", kToFillIn},
                        {"//", "what the tensor map is over: how many bytes" + others("zeros")}});
    return {{"tensor_map", name},
            {"type", kToFillIn},
            {"dims", kToFillIn},
            {"strides", kToFillIn},
            {"box", kToFillIn},
            {"swizzle", kToFillIn},
            {"//", said(Of::tensor_map, "dims") + "; " + said(Of::tensor_map, "strides") +
                       "; or \"encoded\" and nothing else: " +
                       std::string(schema::find(Of::encoded_map, "encoded")->about)}};
  }
  // A texture or surface of that name, over a buffer of its own.
  Ordered image(const std::pair<std::string, std::string>& use, const std::string& name) {
    const auto& [opcode, geometry] = use;
    const std::string over = name + "_texels";
    Ordered buffer{{"buffer", over}, {"zeros", kToFillIn}};
    if (opcode == "sust") buffer["output"] = over + ".npy";
    buffers_.push_back(std::move(buffer));
    Ordered texture{
        {"texture", name}, {"over", over}, {"format", kToFillIn}, {"channels", 1}, {"width", kToFillIn}};
    const bool layered = geometry[1] == 'a';
    const char dimensions = geometry[layered ? 2 : 1];
    if (dimensions != '1') texture["height"] = kToFillIn;
    if (dimensions == '3') texture["depth"] = kToFillIn;
    if (layered) texture["layers"] = kToFillIn;
    texture["//"] = said(Of::texture, "format") + "; " + said(Of::texture, "channels") + "; " +
                    said(Of::texture, "address");
    textures_.push_back(std::move(texture));
    return {{opcode == "tex" ? "texture" : "surface", name}};
  }
  Ordered structure(const ptx::Variable& p, const std::string& name, uint64_t size) {
    Ordered fields = Ordered::array();
    for (const auto& [at, type] : uses_.reads(p.name)) {
      Ordered field{{"at", at}};
      if (uses_.is_pointer({p.name, at})) {
        const std::string inner = name + "_" + std::to_string(at);
        buffers_.push_back(buffer({p.name, at}, inner, {}));
        field["pointer"] = inner;
      } else if (const auto* use = uses_.image({p.name, at}); use != nullptr) {
        field.update(image(*use, name + "_" + std::to_string(at)));
      } else {
        field.update(number_of(scalar_of(type, uses_.is_signed({p.name, at})), {}));
      }
      fields.push_back(std::move(field));
    }
    return {{"struct", std::move(fields)},
            {"size", size},
            {"//", "the fields that the kernel reads; bytes between them are 0"}};
  }

  ParameterUses uses_;
  Ordered& buffers_;
  Ordered& textures_;
  std::string signature_;
  std::vector<Parameter> types_;
  bool typed_ = false;  // by the C++ signature
  std::vector<std::string> names_;
};

// Whether Triton made the text: its kernels have two parameters more than their source.
bool is_of_triton(const std::string& text, const ptx::Module& module, const ptx::Function& entry) {
  if (text.find("Generated by LLVM NVPTX Back-End") == std::string::npos || entry.params.size() < 2)
    return false;
  const bool python = std::any_of(module.files.begin(), module.files.end(),
                                  [](const auto& file) { return file.second.ends_with(".py"); });
  const auto scratch = [](const ptx::Variable& p) { return p.pointer; };
  return python && std::all_of(entry.params.end() - 2, entry.params.end(), scratch);
}

Ordered shape(const std::map<std::string, std::vector<int64_t>>& directives, const char* name,
              Ordered preset) {
  const auto at = directives.find(name);
  return at == directives.end() || at->second.empty() ? std::move(preset) : Ordered(at->second);
}

// Whether it synchronises the grid: it asks where the driver keeps what a cooperative launch has for that.
bool synchronises_grid(const std::vector<ptx::Statement>& body) {
  return std::any_of(body.begin(), body.end(), [](const ptx::Statement& s) {
    if (s.kind == ptx::Statement::Kind::block) return synchronises_grid(s.body);
    const std::vector<ptx::Operand>& o = s.instruction.operands;
    return s.kind == ptx::Statement::Kind::instruction &&
           std::any_of(o.begin(), o.end(), [](const auto& operand) {
             return operand.name == "%envreg1" || operand.name == "%envreg2";
           });
  });
}

}  // namespace

std::string launch_template(const std::string& text, const std::string& path, const std::string& wanted) {
  const ptx::Module module = ptx::parse(text);
  std::vector<std::string> names;
  std::vector<const ptx::Function*> entries;
  for (const ptx::Function& f : module.functions)
    if (f.is_entry && f.has_body) {
      names.push_back(f.name);
      entries.push_back(&f);
    }
  if (entries.empty()) throw machine::InputError("there is no entry in it");
  if (wanted.empty() && entries.size() > 1) {
    std::string known;
    for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
    throw machine::InputError("it has " + std::to_string(names.size()) +
                              " entries, name one behind the file: " + known);
  }
  const ptx::Function& entry = *entries[wanted.empty() ? 0 : name_among(names, wanted, "entry")];
  Ordered buffers = Ordered::array();
  Ordered textures = Ordered::array();
  Writer writer(entry, is_of_triton(text, module, entry), buffers, textures);
  Ordered out{{"ptx", path}, {"entry", entry.name}};
  const bool bounded = entry.directives.count(".reqntid") == 0 && entry.directives.count(".maxntid") != 0;
  out["//"] =
      (writer.signature().empty() ? "" : writer.signature() + ": ") +
      "fill in what is null; what goes there say the members \"//\", which bitwell skips, and bitwell "
      "help launch-file. " +
      said(Of::launch, "grid") + "; " + said(Of::launch, "block") +
      (bounded ? ", at most these (.maxntid)" : "");
  out["grid"] = kToFillIn;
  out["block"] = shape(entry.directives, ".reqntid", shape(entry.directives, ".maxntid", kToFillIn));
  if (entry.directives.count(".reqnctapercluster") != 0) {
    out["cluster"] = shape(entry.directives, ".reqnctapercluster", {1});
  } else if (entry.directives.count(".explicitcluster") != 0) {
    out["cluster"] = kToFillIn;
  }
  const auto called = [&](const ptx::Function& f) {
    return (&f == &entry || !f.is_entry) && synchronises_grid(f.body);
  };
  if (std::any_of(module.functions.begin(), module.functions.end(), called)) out["cooperative"] = true;
  const auto dynamic = [](const ptx::Variable& v) { return v.space == ".shared" && v.linkage == ".extern"; };
  if (std::any_of(module.variables.begin(), module.variables.end(), dynamic))
    out["dynamic_shared_bytes"] = kToFillIn;
  Ordered arguments = Ordered::array();
  for (size_t i = 0; i < entry.params.size(); ++i) arguments.push_back(writer.argument(entry.params[i], i));
  if (!buffers.empty()) out["buffers"] = std::move(buffers);
  if (!textures.empty()) out["textures"] = std::move(textures);
  out["arguments"] = std::move(arguments);
  Ordered variables = Ordered::array();
  for (const ptx::Variable& v : module.variables)
    if (v.space == ".const" && !v.initialized && v.linkage != ".extern")
      variables.push_back(
          {{"variable", v.name},
           {"bin", kToFillIn},
           {"//", "a __constant__ of " + std::to_string(size_of(v)) + " bytes" + others("bin")}});
  if (!variables.empty()) out["variables"] = std::move(variables);
  return strict_json::dumped(out, 2) + "\n";
}

}  // namespace bitwell::launch
