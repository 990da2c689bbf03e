#include "verify/launch/launch.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

#include "verify/launch/memory_limit.h"

namespace bitwell::verify {

std::string read_file(const std::string& path, uint64_t most) {
  const auto refuse = [&](const std::string& why) {
    throw machine::InputError("cannot read '" + path + "': " + why);
  };
  const auto refuse_errno = [&] { refuse(std::generic_category().message(errno)); };
  const auto close_file = [](std::FILE* f) { std::fclose(f); };
  const std::unique_ptr<std::FILE, decltype(close_file)> file(std::fopen(path.c_str(), "rb"));
  struct stat s {};
  if (file == nullptr || fstat(fileno(file.get()), &s) != 0) refuse_errno();
  if (S_ISDIR(s.st_mode)) refuse("it is a folder");
  std::string out;
  if (S_ISREG(s.st_mode)) {
    const auto size = static_cast<uint64_t>(s.st_size);
    if (size > most) refuse("it has " + std::to_string(size) + " bytes, more than the " + std::to_string(most) + " that are read");
    out.reserve(size);
  } else {
    most = std::min(most, kMostText);
  }
  std::vector<char> piece(1 << 20);
  while (const size_t n = std::fread(piece.data(), 1, piece.size(), file.get())) {
    out.append(piece.data(), n);
    if (out.size() > most) refuse("it goes on after the " + std::to_string(most) + " bytes that are read");
  }
  if (std::ferror(file.get()) != 0) refuse_errno();
  return out;
}

isa::Program load_program(const std::string& path, const std::string& entry, isa::Approximate approximate) {
  const std::string text = read_file(path);
  return naming(path, [&] { return isa::compile(ptx::parse(text), entry, approximate); });
}

isa::RunResult simulate(const isa::Program& program, Launch& launch, const isa::Options& options,
                        bool all_written) {
  check_memory(program, launch);
  machine::Memory memory;
  std::vector<machine::Region*> regions;
  for (const Buffer& b : launch.buffers) {
    machine::Region& r = memory.allocate(b.name, b.size());
    memory.write(r.base(), b.bytes);
    if (b.defined)
      r.mark_all_defined();
    else
      r.mark_undefined(0, b.bytes.size());
    r.read_only = b.read_only;
    r.scratch = !b.defined && !b.output;
    regions.push_back(&r);
  }
  std::vector<std::vector<std::byte>> arguments;
  for (const Argument& a : launch.arguments) {
    if (!a.scalar.empty()) {
      arguments.push_back(a.scalar);
      continue;
    }
    const uint64_t address = regions[a.buffer]->base();
    if (a.tensor_map) {
      machine::TensorMap map = *a.tensor_map;
      map.address += address;
      machine::check(map);
      const machine::TensorMapBytes bytes = machine::encode(map);
      arguments.emplace_back(bytes.begin(), bytes.end());
      continue;
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(&address);
    arguments.emplace_back(bytes, bytes + sizeof address);
  }
  const isa::RunResult result = isa::run(program, launch.shape, arguments, memory, options);
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    Buffer& b = launch.buffers[i];
    const machine::Region& r = *regions[i];
    if (all_written && options.checked && b.output && !r.is_defined(0, r.size())) {
      size_t at = 0;
      while (r.is_defined(at, 1)) ++at;
      throw machine::Fault("byte " + std::to_string(at) + " of output '" + b.name + "' was never written");
    }
    if (b.output) b.bytes.resize(b.bytes.size() + std::exchange(b.blank, 0));
    if (!b.read_only) memory.read(r.base(), b.bytes);
  }
  return result;
}

}  // namespace bitwell::verify
