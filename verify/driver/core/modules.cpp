#include "verify/driver/core/modules.h"

#include <algorithm>

#include "model/machine/product.h"
#include "verify/contraction/ptxas.h"
#include "verify/driver/core/refused.h"
#include "verify/image/image.h"

namespace bitwell::driver {

using machine::InputError;

Module& Modules::add_registered(const void* image) {
  auto out = std::make_unique<Module>();
  out->number = ++count_;
  out->image = image;
  Module* const key = out.get();
  return *(all_[key] = std::move(out));
}

void Modules::place_texts(Module& module) {
  try {
    for (size_t i = 0; i < module.texts.size(); ++i) {
      const std::string path =
          "module" + std::to_string(module.number) + (i == 0 ? "" : "_" + std::to_string(i)) + ".ptx";
      std::string& text = module.texts[i];
      if (fmad_)
        text = isa::naming(path, [&] { return contraction::contracted_by_ptxas(text, "").contracted.text; });
      module.parts.push_back(context_.load(text, {.path = path, .approximate = approximate_}));
    }
  } catch (const machine::Unsupported& e) {
    throw NoCode(CUDA_ERROR_NOT_SUPPORTED, e.what());
  } catch (const InputError& e) {
    if (module.image != nullptr) throw NoCode(CUDA_ERROR_INVALID_PTX, e.what());
    throw Refused(CUDA_ERROR_INVALID_PTX, e.what());
  }
}

// A mistake in a text is told when it is loaded, as a driver does that compiles it then; what bitwell has
// not, when it is launched. Large ones are read by entry, when they are asked for.
void Modules::look_at(const Module& module) {
  constexpr size_t most_text = 1 << 18, most_entries = 16;
  for (size_t i = 0; i < module.parts.size(); ++i) {
    const std::vector<std::string>& entries = context_.module(module.parts[i])->entries();
    if (module.texts[i].size() > most_text || entries.size() > most_entries) continue;
    for (const std::string& entry : entries) {
      try {
        context_.program(module.parts[i], entry);
      } catch (const machine::Unsupported&) {
      } catch (const InputError& e) {
        for (const isa::ModuleHandle part : module.parts) context_.unload(part);
        throw Refused(CUDA_ERROR_INVALID_PTX, e.what());
      }
    }
  }
}

std::vector<std::string> Modules::candidates(const image::Image& code, const DeviceRow& device,
                                             const std::string& whose) const {
  try {
    return image::candidates(code, {.sm = device.sm, .folder = folder_});
  } catch (const InputError& e) {
    throw NoCode(CUDA_ERROR_NO_BINARY_FOR_GPU, whose + e.what());
  }
}

Module& Modules::load(std::span<const std::byte> image, const DeviceRow& device, bool library,
                      const void* owner) {
  if (image.empty()) throw Refused(CUDA_ERROR_INVALID_VALUE, "the image cannot be read");
  auto out = std::make_unique<Module>();
  const image::Image code = image::read(image);
  const bool text = !image::is_binary(image);
  if (text && (code.ptx.empty() || code.ptx.front().find(".version") == std::string::npos))
    throw Refused(
        code.ptx.empty() || code.ptx.front().empty() ? CUDA_ERROR_INVALID_IMAGE : CUDA_ERROR_INVALID_PTX,
        "the image is neither PTX, nor a fat binary, nor a cubin");
  out->texts = candidates(code, device, "");
  out->number = count_ + 1;
  out->loaded = true;
  out->library = library;
  out->owner = owner;
  place_texts(*out);
  look_at(*out);
  ++count_;
  Module* const key = out.get();
  return *(all_[key] = std::move(out));
}

void Modules::place(Module& module, const DeviceRow& device) {
  if (module.loaded) return;
  if (module.image != nullptr)
    module.texts = candidates(image::read_at(module.image), device, "the program's code: ");
  place_texts(module);
  module.loaded = true;
}

void Modules::unload(Module& module) {
  for (const isa::ModuleHandle part : module.parts) context_.unload(part);
  for (auto& [name, kernel] : module.kernels) {
    kernels_.erase(kernel.get());
    kernel->module = nullptr;
    kernel->program = nullptr;
    gone_.push_back(std::move(kernel));
  }
  std::erase_if(keys_, [&](const auto& k) { return k.second.first == &module; });
  std::erase_if(symbols_, [&](const auto& s) { return s.second.module == &module; });
  all_.erase(&module);
}

void Modules::release_all(const void* owner) {
  std::vector<Module*> all;
  for (const auto& [key, module] : all_)
    if (module->owner == owner) all.push_back(module.get());
  for (Module* const module : all) unload(*module);
}

void Modules::begin_anew() {
  for (const auto& [key, module] : all_) {
    if (module->owner != nullptr) continue;
    for (const isa::ModuleHandle part : module->parts) context_.unload(part);
    module->parts.clear();
    module->loaded = false;
    for (const auto& [name, kernel] : module->kernels) {
      const std::string same = kernel->name;
      *kernel = {.module = module.get(), .name = same};
    }
  }
}

Module& Modules::find(const void* module) {
  const auto at = all_.find(module);
  if (at == all_.end()) throw Refused(CUDA_ERROR_INVALID_HANDLE, "no module is loaded under this handle");
  return *at->second;
}

std::vector<std::string> Modules::entries(Module& module, const DeviceRow& device) {
  place(module, device);
  std::vector<std::string> out;
  for (const isa::ModuleHandle part : module.parts) {
    const std::vector<std::string>& names = context_.module(part)->entries();
    out.insert(out.end(), names.begin(), names.end());
  }
  return out;
}

Kernel& Modules::kernel(Module& module, const std::string& name, const DeviceRow& device) {
  place(module, device);
  const auto known = module.kernels.find(name);
  if (known != module.kernels.end()) return *known->second;
  for (uint32_t i = 0; i < module.parts.size(); ++i) {
    const std::vector<std::string>& names = context_.module(module.parts[i])->entries();
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    auto made = std::make_unique<Kernel>();
    made->module = &module;
    made->name = name;
    kernels_.insert(made.get());
    module.taken[name] = i;
    return *(module.kernels[name] = std::move(made));
  }
  throw Refused(CUDA_ERROR_NOT_FOUND, "the module has no kernel '" + name + "'");
}

isa::ModuleHandle Modules::part(const Kernel& kernel) const {
  return kernel.module->parts[kernel.module->taken.at(kernel.name)];
}

const isa::Program& Modules::program(Kernel& kernel) {
  if (kernel.program == nullptr) kernel.program = context_.program(part(kernel), kernel.name);
  return *kernel.program;
}

isa::Allocation Modules::variable(Module& module, const std::string& name, const DeviceRow& device) {
  place(module, device);
  for (const isa::ModuleHandle part : module.parts)
    for (const isa::GlobalVariable& v : context_.variables(part))
      if (v.name == name) return context_.variable(part, name);
  throw Refused(CUDA_ERROR_NOT_FOUND, "the module has no variable '" + name + "'");
}

Kernel* Modules::by_key(const void* key, const DeviceRow& device) {
  if (kernels_.contains(key)) {
    auto* const known = static_cast<Kernel*>(const_cast<void*>(key));
    place(*known->module, device);
    return known;
  }
  const auto at = keys_.find(key);
  return at == keys_.end() ? nullptr : &kernel(*at->second.first, at->second.second, device);
}

std::string Modules::name_of(const void* key) const {
  if (kernels_.contains(key)) return static_cast<const Kernel*>(key)->name;
  const auto at = keys_.find(key);
  return at == keys_.end() ? "" : at->second.second;
}

const Symbol* Modules::symbol(const void* key) const {
  const auto at = symbols_.find(key);
  return at == symbols_.end() ? nullptr : &at->second;
}

int Modules::newest() const {
  int ptx = 0, machine_code = 0;
  for (const auto& [key, module] : all_) {
    if (module->image == nullptr) continue;
    const image::Newest newest = image::newest_at(module->image);
    ptx = std::max(ptx, newest.ptx);
    machine_code = std::max(machine_code, newest.machine_code);
  }
  const int known = ptx != 0 ? ptx : machine_code;
  // Of code that any device takes, such as nvcc 12 makes unless it is told otherwise, nothing can be told.
  return known >= machine::kProducts.front().sm ? known : 90;
}

}  // namespace bitwell::driver
