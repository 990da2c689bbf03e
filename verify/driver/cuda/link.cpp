// The linker of device code: what it makes is the PTX of its inputs as one text, which modules are loaded of.
#include "model/ptx/link.h"

#include <cuda.h>

#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "model/ptx/parse.h"
#include "verify/driver/core/state.h"
#include "verify/image/image.h"

using namespace bitwell::driver;

namespace {

struct Link {
  std::vector<std::string> inputs{};
  std::string made{};  // with its NUL
};

// Calls of the driver's hold one lock.
std::map<const void*, std::unique_ptr<Link>>& links() {
  static std::map<const void*, std::unique_ptr<Link>> all;
  return all;
}
Link& link_of(CUlinkState handle) {
  const auto at = links().find(handle);
  if (at == links().end()) throw Refused(CUDA_ERROR_INVALID_VALUE, "this is no linker of the process");
  return *at->second;
}

// What cuLinkCreate was given: logs are empty, and it takes no time. A log's size is how long it may be, and
// then how long it is.
void tell_nothing(unsigned count, const CUjit_option* options, void** values) {
  if (count != 0) present(options), present(values);
  const auto log = [&](CUjit_option buffer, CUjit_option size) {
    char* text = nullptr;
    void** bytes = nullptr;
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == buffer) text = static_cast<char*>(values[i]);
      if (options[i] == size) bytes = &values[i];
    }
    if (bytes == nullptr) return;
    if (text != nullptr && *bytes != nullptr) *text = 0;
    *bytes = nullptr;
  };
  log(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
  log(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  for (unsigned i = 0; i < count; ++i)
    if (options[i] == CU_JIT_WALL_TIME) values[i] = nullptr;  // 0.0F
}

void add(State& s, Link& to, CUjitInputType type, std::span<const std::byte> bytes, const char* name) {
  if (!to.made.empty()) throw Refused(CUDA_ERROR_INVALID_VALUE, "the linker has ended its work");
  if (type == CU_JIT_INPUT_LIBRARY || type == CU_JIT_INPUT_NVVM) {
    s.missing(type == CU_JIT_INPUT_NVVM ? "linking of NVVM's code" : "linking of libraries of device code");
    throw Refused(CUDA_ERROR_NOT_SUPPORTED);
  }
  const bool text = type == CU_JIT_INPUT_PTX;
  const bool known =
      text || type == CU_JIT_INPUT_CUBIN || type == CU_JIT_INPUT_FATBINARY || type == CU_JIT_INPUT_OBJECT;
  if (!known || bytes.empty()) throw Refused(CUDA_ERROR_INVALID_VALUE);
  const std::string whose = name == nullptr ? "" : std::string(name) + ": ";
  if (text == bitwell::image::is_binary(bytes))
    throw Refused(text ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_INVALID_IMAGE,
                  whose + "the input is of another kind");
  const bitwell::image::Image code = bitwell::image::read(bytes);
  if (text && (code.ptx.empty() || code.ptx.front().find(".version") == std::string::npos))
    throw Refused(CUDA_ERROR_INVALID_PTX, whose + "the input is no PTX");
  const std::vector<std::string> all = s.modules.candidates(code, s.device(), whose);
  try {
    for (const std::string& one : all) bitwell::ptx::parse(one);
  } catch (const bitwell::ptx::SyntaxError& e) {
    throw Refused(CUDA_ERROR_INVALID_PTX, whose + e.what());
  }
  to.inputs.insert(to.inputs.end(), all.begin(), all.end());
}

}  // namespace

extern "C" {

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* out) {
  return driver_call("cuLinkCreate", [&](State&) {
    present(out);
    tell_nothing(count, options, values);
    auto made = std::make_unique<Link>();
    *out = reinterpret_cast<CUlinkState>(made.get());
    links()[made.get()] = std::move(made);
  });
}
// An input's own options are for a compiler to machine code.
CUresult cuLinkAddData(CUlinkState link, CUjitInputType type, void* data, size_t size, const char* name,
                       unsigned, CUjit_option*, void**) {
  return driver_call("cuLinkAddData", [&](State& s) {
    if (data == nullptr) throw Refused(CUDA_ERROR_INVALID_VALUE);
    add(s, link_of(link), type, {static_cast<const std::byte*>(data), size}, name);
  });
}
CUresult cuLinkAddFile(CUlinkState link, CUjitInputType type, const char* path, unsigned, CUjit_option*,
                       void**) {
  return driver_call("cuLinkAddFile", [&](State& s) {
    Link& to = link_of(link);
    std::ifstream in(&present(path), std::ios::binary);
    if (!in) throw Refused(CUDA_ERROR_FILE_NOT_FOUND, std::string("cannot read '") + path + "'");
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    add(s, to, type, std::as_bytes(std::span(all)), path);
  });
}
CUresult cuLinkComplete(CUlinkState handle, void** out, size_t* size) {
  return driver_call("cuLinkComplete", [&](State&) {
    Link& link = link_of(handle);
    present(out);
    if (link.inputs.empty()) throw Refused(CUDA_ERROR_INVALID_VALUE, "the linker has no input");
    if (link.made.empty()) {
      try {
        link.made = bitwell::ptx::joined(link.inputs);
      } catch (const bitwell::ptx::LinkError& e) {
        throw Refused(CUDA_ERROR_INVALID_IMAGE, e.what());
      }
      link.made.push_back(0);
    }
    *out = link.made.data();
    if (size != nullptr) *size = link.made.size();
  });
}
CUresult cuLinkDestroy(CUlinkState link) {
  return driver_call("cuLinkDestroy", [&](State&) { links().erase(&link_of(link)); });
}

}  // extern "C"
