#include "verify/driver/modules.h"

#include <algorithm>

#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "model/ptx/reach.h"

namespace bitwell::driver {
namespace {

using machine::InputError;

uint64_t bytes_of(const ptx::Variable& v) {
  const size_t digit = v.type.find_first_of("0123456789");
  uint64_t bytes = digit == std::string::npos ? 1 : std::max(std::stoul(v.type.substr(digit)) / 8, 1ul);
  for (const int64_t d : v.dims) bytes *= static_cast<uint64_t>(std::max<int64_t>(d, 0));
  return bytes * static_cast<uint64_t>(v.vector);
}

// Whether a device of that compute capability takes the target (PTX ISA 9.0, 11.1.2 ".target").
bool runs_on(const machine::Target& t, int sm) {
  if (t.suffix == 'a') return t.arch->sm == sm;
  if (t.suffix == 'f') return t.arch->sm / 10 == sm / 10 && t.arch->sm <= sm;
  return t.arch->sm <= sm;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += (out.empty() ? "" : ", ") + n;
  return out;
}

}  // namespace

std::optional<machine::Target> target_of(const std::string& ptx) {
  const size_t at = ptx.find(".target");
  if (at == std::string::npos) return std::nullopt;
  const size_t from = ptx.find("sm_", at);
  if (from == std::string::npos) return std::nullopt;
  try {
    return machine::find_target(ptx.substr(from, ptx.find_first_of(", \t\r\n;", from) - from));
  } catch (const machine::Unsupported&) {
    return std::nullopt;
  }
}

const std::string& Module::ptx(int sm) {
  if (chosen_ != nullptr) return *chosen_;
  int best = -1;
  for (const std::string& text : code.ptx) {
    const auto target = target_of(text);
    if (!target || !runs_on(*target, sm)) continue;
    const int rank = 2 * target->arch->sm + (target->suffix != 0);
    if (rank > best) best = rank, chosen_ = &text;
  }
  if (chosen_ != nullptr) return *chosen_;
  const std::string remedy =
      " build it with nvcc -gencode arch=compute_" + std::to_string(sm) +
      (sm >= 90 ? "a,code=compute_" + std::to_string(sm) + "a" : ",code=compute_" + std::to_string(sm));
  if (!code.trouble.empty()) throw InputError(listed(code.trouble));
  if (code.ptx.empty())
    throw InputError("the program has machine code only (" + listed(code.machine_code) +
                     "), and bitwell runs PTX:" + remedy +
                     ", or with -lineinfo, by which machine code keeps its PTX");
  std::vector<std::string> targets;
  for (const std::string& text : code.ptx)
    if (const auto t = target_of(text))
      targets.push_back("sm_" + std::to_string(t->arch->sm) +
                        (t->suffix == 0 ? "" : std::string(1, t->suffix)));
  throw InputError("none of the program's PTX (" + listed(targets) + ") is for a device of sm_" +
                   std::to_string(sm) + ": choose another by --arch, or" + remedy);
}

const ptx::Module& Module::declarations(int sm) {
  if (declarations_) return *declarations_;
  try {
    return declarations_.emplace(ptx::parse(ptx::without_bodies(ptx(sm))));
  } catch (const ptx::SyntaxError& e) {
    throw InputError(std::string("the program's PTX cannot be read: ") + e.what());
  }
}

const Head& Module::head(const std::string& entry, int sm) {
  if (const auto known = heads_.find(entry); known != heads_.end()) return known->second;
  const std::vector<ptx::Function>& all = declarations(sm).functions;
  const auto function = std::find_if(all.begin(), all.end(), [&](const ptx::Function& f) {
    return f.is_entry && f.has_body && f.name == entry;
  });
  if (function == all.end()) throw InputError("the program's PTX has no entry '" + entry + "'");
  Head head;
  uint64_t end = 0;
  for (const ptx::Variable& v : function->params) {
    const uint64_t bytes = bytes_of(v);
    head.parameters.push_back({v.type, end, bytes});
    end += bytes;
  }
  head.directives = function->directives;
  return heads_[entry] = std::move(head);
}

const ptx::Variable* Module::variable(const std::string& name, int sm) {
  for (const ptx::Variable& v : declarations(sm).variables)
    if (v.name == name && v.linkage != ".extern" && (v.space == ".global" || v.space == ".const")) return &v;
  return nullptr;
}

Module& Modules::add(FatBinary code) {
  all_.push_back(std::make_unique<Module>());
  all_.back()->code = std::move(code);
  all_.back()->number = ++count_;
  return *all_.back();
}

void Modules::remove(Module* module) {
  std::erase_if(kernels_, [&](const auto& k) { return k.second->module == module; });
  std::erase_if(symbols_, [&](const auto& s) { return s.second->module == module; });
  std::erase_if(all_, [&](const auto& m) { return m.get() == module; });
}

Kernel* Modules::kernel(const void* key) {
  const auto at = kernels_.find(key);
  return at == kernels_.end() ? nullptr : at->second;
}

Kernel* Modules::add_kernel(Module& module, const std::string& name, const void* key) {
  module.kernels.push_back(std::make_unique<Kernel>());
  Kernel* const kernel = module.kernels.back().get();
  kernel->module = &module;
  kernel->name = name;
  kernels_[kernel] = kernel;
  if (key != nullptr) kernels_[key] = kernel;
  return kernel;
}

Symbol* Modules::symbol(const void* key) {
  const auto at = symbols_.find(key);
  return at == symbols_.end() ? nullptr : at->second;
}

void Modules::add_symbol(Module& module, Symbol symbol, const void* key) {
  symbol.module = &module;
  module.symbols.push_back(std::make_unique<Symbol>(std::move(symbol)));
  symbols_[key] = module.symbols.back().get();
}

int Modules::newest() const {
  int sm = 0;
  for (const auto& module : all_)
    for (const std::string& text : module->code.ptx)
      if (const auto target = target_of(text)) sm = std::max(sm, target->arch->sm);
  return sm == 0 ? 90 : sm;
}

}  // namespace bitwell::driver
