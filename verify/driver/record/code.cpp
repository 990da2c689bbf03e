#include "verify/driver/record/code.h"

#include <dlfcn.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "verify/driver/record/real.h"
#include "verify/image/image.h"
#include "verify/launch/file/names.h"

namespace bitwell::driver {
namespace {

using machine::InputError;

image::Image of_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return image::read(std::as_bytes(std::span(text)));
}

// `read` gives the image.
template <class Read>
void take(Loaded& to, int sm, const std::string& folder, Read read) {
  to.read = true;
  try {
    to.texts = image::candidates(read(), {.sm = sm, .folder = folder});
  } catch (const std::exception& e) {
    to.trouble = e.what();
  }
}

int device_of_thread() {
  CUdevice device = 0;
  int major = 0, minor = 0;
  if (REAL(cuCtxGetDevice)(&device) != CUDA_SUCCESS) return 0;
  REAL(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  REAL(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  return 10 * major + minor;
}

}  // namespace

void Code::add(const void* handle, const void* image, bool library) {
  auto out = std::make_unique<Loaded>();
  out->library = library;
  out->number = ++count_;
  // What a compiler made in memory may be gone when a kernel of it is launched; a file stays.
  Dl_info at{};
  if (dladdr(image, &at) != 0)
    out->image = image;
  else
    take(*out, device_of_thread(), folder_, [&] { return image::read_at(image); });
  all_[handle] = std::move(out);
}

void Code::add_file(const void* handle, const char* path, bool library) {
  auto out = std::make_unique<Loaded>();
  out->library = library;
  out->number = ++count_;
  take(*out, device_of_thread(), folder_, [&] { return of_file(path); });
  all_[handle] = std::move(out);
}

void Code::drop(const void* handle) {
  const auto at = all_.find(handle);
  if (at == all_.end()) return;
  for (const isa::ModuleHandle part : at->second->parts) context_.unload(part);
  all_.erase(at);
  std::erase_if(names_, [&](const auto& n) { return n.second.first == handle; });
}

void Code::name(const void* kernel, const void* module, const std::string& name) {
  names_[kernel] = {module, name};
}

void Code::read(Loaded& loaded, int sm) {
  if (!loaded.read) take(loaded, sm, folder_, [&] { return image::read_at(loaded.image); });
}

void Code::place(Loaded& loaded) {
  for (size_t i = loaded.parts.size(); i < loaded.texts.size(); ++i)
    loaded.parts.push_back(
        context_.load(loaded.texts[i], {.path = "module" + std::to_string(loaded.number) +
                                                (i == 0 ? "" : "_" + std::to_string(i)) + ".ptx"}));
}

bool Code::has(Loaded& loaded, const std::string& name, Found& out) {
  place(loaded);
  for (const isa::ModuleHandle part : loaded.parts) {
    const std::vector<std::string>& entries = context_.module(part)->entries();
    if (std::find(entries.begin(), entries.end(), name) == entries.end()) continue;
    out.part = part;
    out.loaded = &loaded;
    return true;
  }
  return false;
}

Found Code::find(CUfunction kernel, int sm) {
  Found out;
  if (const auto known = names_.find(kernel); known != names_.end()) {
    out.module = known->second.first;
    out.name = known->second.second;
  } else {
    // A function, or a kernel of a library, which is taken in its place.
    const char* name = nullptr;
    CUmodule module = nullptr;
    CUlibrary library = nullptr;
    if (REAL(cuFuncGetName)(&name, kernel) == CUDA_SUCCESS && name != nullptr) {
      out.name = name;
      if (REAL(cuFuncGetModule)(&module, kernel) == CUDA_SUCCESS) out.module = module;
    } else if (REAL(cuKernelGetName)(&name, reinterpret_cast<CUkernel>(kernel)) == CUDA_SUCCESS &&
               name != nullptr) {
      out.name = name;
      if (REAL(cuKernelGetLibrary)(&library, reinterpret_cast<CUkernel>(kernel)) == CUDA_SUCCESS)
        out.module = library;
    }
  }
  if (out.name.empty()) throw InputError("the driver does not say the kernel's name");
  std::string trouble = "none of the program's code has its PTX";
  if (const auto own = all_.find(out.module); own != all_.end()) {
    read(*own->second, sm);
    if (has(*own->second, out.name, out)) return out;
    if (!own->second->trouble.empty()) trouble = own->second->trouble;
  }
  // A module of a library has a handle of its own.
  for (const auto& [handle, loaded] : all_) {
    read(*loaded, sm);
    if (!has(*loaded, out.name, out)) continue;
    out.module = handle;
    return out;
  }
  if (program_ == nullptr) {
    program_ = std::make_unique<Loaded>();
    program_->number = ++count_;
    take(*program_, sm, folder_, [] { return of_file("/proc/self/exe"); });
  }
  if (has(*program_, out.name, out)) {
    out.loaded = nullptr;  // the driver's handle of it is not known
    return out;
  }
  throw InputError(trouble);
}

}  // namespace bitwell::driver
