#include "verify/driver/record/keeper.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "model/strict_json/write.h"
#include "verify/driver/core/parameters.h"
#include "verify/driver/core/refused.h"
#include "verify/driver/core/say.h"
#include "verify/driver/record/real.h"
#include "verify/driver/record/said.h"
#include "verify/launch/file/names.h"

namespace bitwell::driver {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const void* current() {
  CUcontext out = nullptr;
  return REAL(cuCtxGetCurrent)(&out) == CUDA_SUCCESS ? out : nullptr;
}

int compute_capability() {
  CUdevice device = 0;
  int major = 0, minor = 0;
  need(REAL(cuCtxGetDevice)(&device), "cuCtxGetDevice");
  need(REAL(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
       "its device");
  need(REAL(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
       "its device");
  return 10 * major + minor;
}

// While one of these lives the thread may ask for what a stream that is captured elsewhere forbids it.
class Relaxed {
 public:
  Relaxed() { REAL(cuThreadExchangeStreamCaptureMode)(&mode_); }
  ~Relaxed() { REAL(cuThreadExchangeStreamCaptureMode)(&mode_); }
  Relaxed(const Relaxed&) = delete;
  Relaxed& operator=(const Relaxed&) = delete;

 private:
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// As NumPy has a row of bytes.
void write_npy(const fs::path& path, std::span<const std::byte> bytes) {
  std::string head =
      "{'descr': '|u1', 'fortran_order': False, 'shape': (" + std::to_string(bytes.size()) + ",), }";
  constexpr size_t before = 10, line = 64;
  head.resize((before + head.size() + 1 + line - 1) / line * line - before - 1, ' ');
  head += '\n';
  std::ofstream out(path, std::ios::binary);
  const auto size = static_cast<uint16_t>(head.size());
  out.write("\x93NUMPY\x01\x00", 8);
  out.put(static_cast<char>(size & 0xff)).put(static_cast<char>(size >> 8));
  out << head;
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw machine::InputError("cannot write '" + path.string() + "'");
}

// The launch file of a folder.
template <class F>
void change(const fs::path& folder, F how) {
  const fs::path file = folder / "launch.json";
  Json launch;
  {
    std::ifstream in(file);
    launch = Json::parse(in);
  }
  how(launch);
  std::ofstream out(file);
  out << strict_json::dumped(launch, 1) << "\n";
  if (!out.flush()) throw machine::InputError("cannot write '" + file.string() + "'");
}

// Of a thread; 0: the driver does not say.
uint32_t registers_of(CUfunction kernel) {
  int out = 0;
  CUfunction function = kernel;
  if (REAL(cuFuncGetAttribute)(&out, CU_FUNC_ATTRIBUTE_NUM_REGS, function) == CUDA_SUCCESS)
    return static_cast<uint32_t>(out);
  // A kernel of a library, which is taken in a function's place.
  if (REAL(cuKernelGetFunction)(&function, reinterpret_cast<CUkernel>(kernel)) != CUDA_SUCCESS) return 0;
  const CUresult result = REAL(cuFuncGetAttribute)(&out, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
  return result == CUDA_SUCCESS ? static_cast<uint32_t>(out) : 0;
}

}  // namespace

// The program's memory, in ours for as long as a launch is kept.
struct Keeper::Memory {
  explicit Memory(isa::Context& context) : of(context) {}
  ~Memory() {
    for (const uint64_t address : buffers) of.memory().remove(address);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  isa::Context& of;
  std::vector<uint64_t> buffers{};
  std::vector<std::pair<CUdeviceptr, std::vector<std::byte>>> variables{};  // where the GPU has them
};

Keeper& keeper() {
  static Keeper* const one = new Keeper;  // never destroyed: programs call CUDA from destructors of their own
  return *one;
}

Keeper::Keeper() : asked_(asked_of_environment()), code_(context_, asked_.ptx), recorder_(asked_) {}

void Keeper::add(uint64_t address, uint64_t bytes, bool host, const char* kind) {
  const std::lock_guard lock(mutex_);
  blocks_[address] = {kind + std::to_string(++count_), bytes, host, current()};
}
void Keeper::remove(uint64_t address) {
  const std::lock_guard lock(mutex_);
  blocks_.erase(address);
}
void Keeper::remove_range(uint64_t address, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  std::erase_if(blocks_, [&](const auto& b) { return b.first - address < bytes; });
}
void Keeper::remove_of(const void* context) {
  const std::lock_guard lock(mutex_);
  std::erase_if(blocks_, [&](const auto& b) { return b.second.context == context; });
  streams_.erase(context);
}

void Keeper::pass_over(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!said_.emplace(why, true).second) return;
  say(why);
}

// Ours, for the program's may be captured.
CUresult Keeper::stream(CUstream& out) {
  CUstream& stream = streams_[current()];
  const CUresult result =
      stream == nullptr ? REAL(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING) : CUDA_SUCCESS;
  out = stream;
  return result;
}

// Empty, or what the driver says.
std::string Keeper::read(uint64_t address, std::span<std::byte> to, bool host) {
  if (host) {
    std::memcpy(to.data(), reinterpret_cast<const void*>(address), to.size());
    return "";
  }
  CUstream stream = nullptr;
  CUresult result = this->stream(stream);
  if (result == CUDA_SUCCESS) result = REAL(cuMemcpyDtoHAsync)(to.data(), address, to.size(), stream);
  if (result == CUDA_SUCCESS) result = REAL(cuStreamSynchronize)(stream);
  return result == CUDA_SUCCESS ? "" : name_of(result);
}

std::vector<std::vector<std::byte>> Keeper::arguments(const GpuLaunch& asked, const Found& kernel) {
  const std::shared_ptr<const isa::Program> program = context_.program(kernel.part, kernel.name);
  return asked.extra != nullptr ? parameters_of(*program, kernel.name, buffer_of(asked.extra))
                                : parameters_of(*program, kernel.name, asked.parameters);
}

// The program's memory as the launch is to find it.
void Keeper::restore(const Memory& before) {
  CUstream stream = nullptr;
  need(this->stream(stream), "a stream");
  const auto write = [&](CUdeviceptr to, std::span<const std::byte> bytes) {
    need(REAL(cuMemcpyHtoDAsync)(to, bytes.data(), bytes.size(), stream), "memory that is put back");
  };
  for (const uint64_t address : before.buffers) {
    const Held& block = blocks_.at(address);
    const std::byte* const bytes = context_.memory().find(address, 1)->raw_bytes();
    if (block.host)
      std::memcpy(reinterpret_cast<void*>(address), bytes, block.bytes);
    else
      write(address, {bytes, block.bytes});
  }
  for (const auto& [there, value] : before.variables) write(there, value);
  need(REAL(cuStreamSynchronize)(stream), "memory that is put back");
}

// How long the launch takes, into the file that was kept. The memory is then as it was.
void Keeper::time(const Stopwatch::Launch& launch, const Memory& before, const std::string& folder) {
  Json measured;
  std::string why;
  try {
    measured = stopwatch_.measure(launch, [&] { restore(before); });
  } catch (const std::exception& e) {
    why = e.what();
  }
  restore(before);
  if (!why.empty()) throw machine::InputError(why);
  change(folder, [&](Json& kept) { kept["measured"] = measured; });
}

// Values of the module's variables; what points to them in arguments points to ours from now on.
void Keeper::take_variables(const Found& kernel, Memory& memory,
                            std::vector<std::vector<std::byte>>& arguments, std::string& lacks) {
  for (const isa::GlobalVariable& v : context_.variables(kernel.part)) {
    if (v.size == 0) continue;
    CUdeviceptr there = 0;
    size_t bytes = 0;
    CUresult result = CUDA_ERROR_NOT_FOUND;
    if (kernel.loaded != nullptr) {
      auto* const handle = const_cast<void*>(kernel.module);
      result = kernel.loaded->library
                   ? REAL(cuLibraryGetGlobal)(&there, &bytes, static_cast<CUlibrary>(handle), v.name.c_str())
                   : REAL(cuModuleGetGlobal)(&there, &bytes, static_cast<CUmodule>(handle), v.name.c_str());
    }
    std::vector<std::byte> value(std::min<uint64_t>(v.size, bytes));
    if (result != CUDA_SUCCESS || !read(there, value, false).empty()) {
      // A string of the source's has no name that the driver knows, and never changes.
      if (!v.name.starts_with("$")) lacks += (lacks.empty() ? "" : ", ") + launch::as_written(v.name);
      continue;
    }
    context_.write({v.address, value.size(), 0}, value);
    if (!v.is_const) memory.variables.emplace_back(there, value);
    for (std::vector<std::byte>& argument : arguments)
      for (size_t at = 0; at + 8 <= argument.size(); at += 4) {
        uint64_t word = 0;
        std::memcpy(&word, argument.data() + at, sizeof word);
        if (word < there || word - there >= bytes) continue;
        word = word - there + v.address;
        std::memcpy(argument.data() + at, &word, sizeof word);
      }
  }
}

void Keeper::keep(const GpuLaunch& asked, Begun& begun, const Stopwatch::Launch& again) {
  const Found kernel = code_.find(asked.kernel, compute_capability());
  uint64_t bytes = 0;
  for (const auto& [address, block] : blocks_) bytes += block.bytes;
  if (!recorder_.keeps(begun.number, bytes)) return;
  std::vector<std::vector<std::byte>> given = arguments(asked, kernel);
  need(REAL(cuCtxSynchronize)(), "what came before it");
  Memory memory(context_);
  std::string lacks;
  for (const auto& [address, block] : blocks_) {
    if (address >= machine::kSharedWindow && address < machine::kBuffers) {
      lacks += (lacks.empty() ? "" : ", ") + block.name + " (at an address that is bitwell's own)";
      continue;
    }
    machine::Region& region = context_.memory().place(block.name, address, block.bytes);
    memory.buffers.push_back(address);
    if (const std::string why = read(address, {region.raw_bytes(), block.bytes}, block.host); !why.empty()) {
      lacks += (lacks.empty() ? "" : ", ") + block.name + " (" + why + ")";
      context_.memory().remove(address);
      memory.buffers.pop_back();
    }
  }
  take_variables(kernel, memory, given, lacks);
  isa::KernelLaunch launch{kernel.part, kernel.name, asked.shape, {}};
  launch.shape.registers = registers_of(asked.kernel);
  for (std::vector<std::byte>& argument : given) launch.arguments.push_back({std::move(argument), 0});
  begun.folder = recorder_.record(context_, memory.buffers, launch, begun.number);
  begun.buffers = memory.buffers;
  if (!lacks.empty()) say(fmt::format("launch {} is kept without {}", begun.number, lacks));
  if (!asked_.record_time) return;
  try {
    time(again, memory, begun.folder);
  } catch (const std::exception& e) {
    say(fmt::format("launch {} is not timed: {}", begun.number, e.what()));
  }
}

std::optional<Keeper::Begun> Keeper::begin(const GpuLaunch& asked, const Stopwatch::Launch& launch) {
  const std::lock_guard lock(mutex_);
  Begun out;
  try {
    const Relaxed relaxed;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (REAL(cuStreamIsCapturing)(asked.stream, &status) == CUDA_SUCCESS &&
        status != CU_STREAM_CAPTURE_STATUS_NONE) {
      pass_over("launches of graphs are not kept: they are captured, and begin later");
      return std::nullopt;
    }
    out.number = ++launches_;
    std::string name, why;
    try {
      name = code_.find(asked.kernel, compute_capability()).name;
    } catch (const std::exception& e) {
      why = e.what();
    }
    const bool meant = choice_.takes(asked_, name);
    out.told = Json{
        {"launch", out.number}, {"kernel", name}, {"grid", asked.shape.grid}, {"block", asked.shape.block}};
    if (asked.shape.explicit_cluster) out.told["cluster"] = asked.shape.cluster;
    out.told["judged"] = meant;
    out.told["status"] = static_cast<int>(kHeld);
    out.told["errors"] = 0;
    out.told["verdict"] = "not kept";
    if (asked_.dump_launches)
      say(fmt::format("launch {}: {} grid {} block {}{} shared {}{}", out.number, launch::as_written(name),
                      machine::triple(asked.shape.grid), machine::triple(asked.shape.block),
                      asked.shape.explicit_cluster ? " cluster " + machine::triple(asked.shape.cluster) : "",
                      asked.shape.dynamic_shared, meant ? "" : ", not judged"));
    if (!meant) return out;
    if (why.empty()) {
      keep(asked, out, launch);
    } else {
      pass_over(fmt::format("launch {} is not kept: {}", out.number, why));
      out.told["status"] = static_cast<int>(kUnsupported);
    }
    if (!out.folder.empty()) {
      out.told["folder"] = out.folder;
      out.told["verdict"] = "kept";
    }
  } catch (const std::exception& e) {
    say(fmt::format("launch {} is not kept: {}", out.number, e.what()));
    out.told["status"] = static_cast<int>(kUnsupported);
  }
  return out;
}

// What the GPU left is what a replay is to leave.
void Keeper::keep_after(const Begun& begun) {
  const fs::path folder = begun.folder;
  fs::create_directory(folder / "after");
  change(folder, [&](Json& launch) {
    for (Json& buffer : launch["buffers"]) {
      const uint64_t address = buffer["address"];
      const auto block = blocks_.find(address);
      if (block == blocks_.end() || !buffer.contains("output")) continue;
      std::vector<std::byte> bytes(block->second.bytes);
      if (const std::string why = read(address, bytes, block->second.host); !why.empty())
        throw machine::InputError("what it left of " + block->second.name + ": " + why);
      const std::string name = "after/" + block->second.name + ".npy";
      write_npy(folder / name, bytes);
      buffer["expected"] = name;
      buffer.erase("all_written");  // a GPU says of no byte that it was not
    }
  });
}

void Keeper::end(Begun& begun, CUresult launched) {
  const std::lock_guard lock(mutex_);
  try {
    const Relaxed relaxed;
    CUresult result = launched;
    if (launched != CUDA_SUCCESS) {  // that is the program's matter: nothing ran
      if (!begun.folder.empty()) fs::remove_all(begun.folder);
      begun.told.erase("folder");
      begun.told["verdict"] = name_of(launched);
      begun.told["status"] = static_cast<int>(kHeld);
    } else if (!begun.folder.empty()) {
      result = REAL(cuCtxSynchronize)();
    }
    if (launched == CUDA_SUCCESS && result != CUDA_SUCCESS) {
      const std::string words =
          fmt::format("the GPU's driver says {}", name_of(result)) +
          (begun.folder.empty() ? "" : ": bitwell run " + begun.folder + "/launch.json");
      begun.told["errors"] = 1;
      begun.told["status"] = static_cast<int>(kFailed);
      begun.told["verdict"] = name_of(result);
      begun.told["words"] = words;
      say(fmt::format("launch {}, kernel {}: {}", begun.number,
                      launch::as_written(begun.told["kernel"].get<std::string>()), words));
    } else if (launched == CUDA_SUCCESS && asked_.record_after && !begun.folder.empty()) {
      keep_after(begun);
    }
  } catch (const std::exception& e) {
    say(fmt::format("launch {}: {}", begun.number, e.what()));
  }
  if (!asked_.told.empty()) append(asked_.told, strict_json::dumped(begun.told) + "\n");
}

}  // namespace bitwell::driver
