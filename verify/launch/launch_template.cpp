#include "verify/launch/launch_template.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "model/run/nearby.h"
#include "verify/launch/names.h"

namespace bitwell::verify {
namespace {

using json = nlohmann::ordered_json;
using Place = std::pair<std::string, uint64_t>;  // of a value: a parameter, and bytes into it

constexpr uint64_t kBufferBytes = 4096;  // of a new buffer
constexpr uint64_t kMapBytes = 128;      // of a tensor map, which is aligned to 64

uint64_t bytes_of(const std::string& type) {
  const size_t digit = type.find_first_of("0123456789");
  if (type == ".pred" || digit == std::string::npos) return 1;
  const uint64_t bits = std::stoul(type.substr(digit));
  return std::max<uint64_t>(bits / 8, 1) * (type.ends_with("x2") ? 2 : 1);
}

uint64_t size_of(const ptx::Variable& v) {
  uint64_t size = bytes_of(v.type) * static_cast<uint64_t>(v.vector);
  for (const int64_t d : v.dims) size *= static_cast<uint64_t>(std::max<int64_t>(d, 0));
  return size;
}

// What an entry does with its parameters: where it reads them and as what, and which values it uses as
// addresses of global memory, as tensor maps, or as handles of textures and surfaces.
class Uses {
 public:
  explicit Uses(const ptx::Function& entry) {
    for (const ptx::Variable& p : entry.params)
      if (p.pointer) pointers_.insert({p.name, 0});
    visit(entry.body);
  }
  bool is_pointer(const Place& at) const { return pointers_.count(at) != 0; }
  // The instruction whose object the value is (tex, suld or sust) and its geometry (.2d); else nullptr.
  const std::pair<std::string, std::string>* image(const Place& at) const {
    const auto found = images_.find(at);
    return found == images_.end() ? nullptr : &found->second;
  }
  bool is_map(const std::string& parameter) const { return maps_.count(parameter) != 0; }
  // Types by offset, of the loads from a parameter.
  std::map<uint64_t, std::string> reads(const std::string& parameter) const {
    const auto at = reads_.find(parameter);
    return at == reads_.end() ? std::map<uint64_t, std::string>{} : at->second;
  }

 private:
  void visit(const std::vector<ptx::Statement>& body) {
    for (const ptx::Statement& s : body) {
      if (s.kind == ptx::Statement::Kind::block) visit(s.body);
      if (s.kind == ptx::Statement::Kind::instruction) visit(s.instruction);
    }
  }
  void visit(const ptx::Instruction& i) {
    const auto has = [&](const char* modifier) {
      return std::find(i.modifiers.begin(), i.modifiers.end(), modifier) != i.modifiers.end();
    };
    if (i.opcode == "ld" && (has(".param") || has(".param::entry")) && i.operands.size() == 2) return load(i);
    if ((i.opcode == "mov" || i.opcode == "add" || i.opcode == "cvta") && i.operands.size() >= 2 &&
        i.operands[0].kind == ptx::OperandKind::name) {
      for (size_t n = 1; n < i.operands.size(); ++n)
        if (const auto from = values_.find(i.operands[n].name); from != values_.end()) {
          if (i.opcode == "cvta" && has(".global")) pointers_.insert(from->second);
          values_.insert({i.operands[0].name, from->second});
        }
      if (i.opcode == "mov") addresses_.insert({i.operands[0].name, i.operands[1].name});
      if (const auto of = addresses_.find(i.operands[1].name); of != addresses_.end())
        addresses_.insert({i.operands[0].name, of->second});
    }
    for (const ptx::Operand& o : i.operands) {
      if (o.kind != ptx::OperandKind::memory || o.elements.empty()) continue;
      const std::string& base = o.elements[0].name;
      if (const auto from = values_.find(base); from != values_.end()) {
        if (i.opcode == "tex" || i.opcode == "suld" || i.opcode == "sust")
          images_[from->second] = {i.opcode, geometry_of(i)};
        else
          pointers_.insert(from->second);
      }
      const auto of = addresses_.find(base);
      if (has(".tensor") || has(".tensormap")) maps_.insert(of == addresses_.end() ? base : of->second);
    }
  }
  void load(const ptx::Instruction& i) {
    const ptx::Operand& from = i.operands[1];
    if (from.elements.empty()) return;
    const std::string& parameter = from.elements[0].name;
    const std::string type = i.modifiers.back();
    std::vector<ptx::Operand> to = i.operands[0].elements;
    if (to.empty()) to = {i.operands[0]};
    for (size_t n = 0; n < to.size(); ++n) {
      const uint64_t at = from.integer + n * bytes_of(type);
      reads_[parameter][at] = type;
      values_[to[n].name] = {parameter, at};
    }
  }

  static std::string geometry_of(const ptx::Instruction& i) {
    for (const std::string& m : i.modifiers)
      if (m == ".1d" || m == ".2d" || m == ".3d" || m == ".a1d" || m == ".a2d") return m;
    return ".2d";
  }

  std::map<std::string, Place> values_;           // by register
  std::map<std::string, std::string> addresses_;  // of parameters, by register
  std::map<std::string, std::map<uint64_t, std::string>> reads_;
  std::set<Place> pointers_;
  std::set<std::string> maps_;
  std::map<Place, std::pair<std::string, std::string>> images_;
};

json number_of(const std::string& type) {
  const std::string name = type.substr(1);
  const bool real = name == "f32" || name == "f64" || name == "f16" || name == "bf16";
  return {{"type", name}, {"value", real ? json(0.0) : json(0)}};
}

class Writer {
 public:
  Writer(const ptx::Function& entry, json& buffers, json& textures)
      : uses_(entry), buffers_(buffers), textures_(textures) {
    const std::string plain = isa::readable(entry.name);
    if (plain != entry.name) signature_ = plain;
  }
  const std::string& signature() const { return signature_; }

  json argument(const ptx::Variable& p, size_t number) {
    const std::string name = "p" + std::to_string(number);
    const uint64_t size = size_of(p);
    if (p.dims.empty() && uses_.is_pointer({p.name, 0}))
      return {{"buffer", name},
              {"zeros", kBufferBytes},
              {"output", name + ".npy"},
              {"//", "bytes; or npy, bin, values, generate, unwritten; \"read_only\": true for an input"}};
    if (uses_.image({p.name, 0}) != nullptr && p.dims.empty()) return image(*uses_.image({p.name, 0}), name);
    if (p.dims.empty() && p.vector == 1) return number_of(p.type);
    if (uses_.is_map(p.name) && size == kMapBytes) {
      buffers_.push_back({{"buffer", name}, {"zeros", kBufferBytes}, {"//", "what the tensor map leads to"}});
      return {{"tensor_map", name},
              {"type", "f16"},
              {"dims", {64, 32}},
              {"strides", {128}},
              {"box", {64, 8}},
              {"swizzle", "none"},
              {"//", "dimensions innermost first; or \"encoded\": FILE, the 128 bytes of the host's map"}};
    }
    return structure(p, name, size);
  }

 private:
  // A texture or surface of that name, over a buffer of its own.
  json image(const std::pair<std::string, std::string>& use, const std::string& name) {
    const auto& [opcode, geometry] = use;
    const std::string over = name + "_texels";
    json buffer{{"buffer", over}, {"zeros", kBufferBytes}};
    if (opcode == "sust") buffer["output"] = over + ".npy";
    buffers_.push_back(std::move(buffer));
    json texture{{"texture", name}, {"over", over}, {"format", "f32"}, {"channels", 1}, {"width", 16}};
    const bool layered = geometry[1] == 'a';
    const char dimensions = geometry[layered ? 2 : 1];
    if (dimensions != '1') texture["height"] = 8;
    if (dimensions == '3') texture["depth"] = 4;
    if (layered) texture["layers"] = 2;
    texture["//"] = "texels, x fastest; \"address\": clamp, border, wrap or mirror";
    textures_.push_back(std::move(texture));
    return {{opcode == "tex" ? "texture" : "surface", name}};
  }
  json structure(const ptx::Variable& p, const std::string& name, uint64_t size) {
    json fields = json::array();
    for (const auto& [at, type] : uses_.reads(p.name)) {
      json field{{"at", at}};
      if (uses_.is_pointer({p.name, at})) {
        const std::string buffer = name + "_" + std::to_string(at);
        buffers_.push_back({{"buffer", buffer}, {"zeros", kBufferBytes}, {"output", buffer + ".npy"}});
        field["pointer"] = buffer;
      } else if (const auto* use = uses_.image({p.name, at}); use != nullptr) {
        field.update(image(*use, name + "_" + std::to_string(at)));
      } else {
        field.update(number_of(type));
      }
      fields.push_back(std::move(field));
    }
    return {{"struct", std::move(fields)},
            {"size", size},
            {"//", "the fields that the kernel reads; bytes between them are 0"}};
  }

  Uses uses_;
  json& buffers_;
  json& textures_;
  std::string signature_;
};

json shape(const std::map<std::string, std::vector<int64_t>>& directives, const char* name, json preset) {
  const auto at = directives.find(name);
  return at == directives.end() || at->second.empty() ? std::move(preset) : json(at->second);
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
  if (wanted.empty() && entries.size() > 1) name_among(names, "", "entry");  // says which there are
  const ptx::Function& entry = *entries[wanted.empty() ? 0 : name_among(names, wanted, "entry")];
  json buffers = json::array();
  json textures = json::array();
  Writer writer(entry, buffers, textures);
  json out{{"ptx", path}, {"entry", entry.name}};
  out["//"] =
      (writer.signature().empty() ? "" : writer.signature() + ": ") +
      "grid and block as the host has them, x first; numbers that are 0, and what \"//\" says, are to be "
      "filled in";
  out["grid"] = {1};
  out["block"] = shape(entry.directives, ".reqntid", shape(entry.directives, ".maxntid", {32}));
  if (entry.directives.count(".reqnctapercluster") != 0) {
    out["cluster"] = shape(entry.directives, ".reqnctapercluster", {1});
    if (entry.directives.count(".blocksareclusters") == 0)
      out["grid"] = out["cluster"];  // else it counts them
  }
  const auto called = [&](const ptx::Function& f) {
    return (&f == &entry || !f.is_entry) && synchronises_grid(f.body);
  };
  if (std::any_of(module.functions.begin(), module.functions.end(), called)) out["cooperative"] = true;
  const auto dynamic = [](const ptx::Variable& v) { return v.space == ".shared" && v.linkage == ".extern"; };
  if (std::any_of(module.variables.begin(), module.variables.end(), dynamic)) out["dynamic_shared_bytes"] = 0;
  json arguments = json::array();
  for (size_t i = 0; i < entry.params.size(); ++i) arguments.push_back(writer.argument(entry.params[i], i));
  if (!buffers.empty()) out["buffers"] = std::move(buffers);
  if (!textures.empty()) out["textures"] = std::move(textures);
  out["arguments"] = std::move(arguments);
  json variables = json::array();
  for (const ptx::Variable& v : module.variables)
    if (v.space == ".const" && !v.initialized && v.linkage != ".extern")
      variables.push_back(
          {{"variable", v.name}, {"zeros", size_of(v)}, {"//", "a __constant__: give it its values"}});
  if (!variables.empty()) out["variables"] = std::move(variables);
  return out.dump(2) + "\n";
}

}  // namespace bitwell::verify
