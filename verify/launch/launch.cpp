#include "verify/launch/launch.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "model/machine/memory/pages.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/placed.h"
#include "verify/launch/variables.h"

namespace bitwell::launch {
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
    if (size > most)
      refuse("it has " + std::to_string(size) + " bytes, more than the " + std::to_string(most) +
             " that are read");
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

std::shared_ptr<const isa::Module> load_module(const std::string& path, const std::string& entry) {
  return std::make_shared<const isa::Module>(read_ptx(path, entry), path);
}

std::shared_ptr<const isa::Program> program_of(const Launch& launch) {
  const std::shared_ptr<const isa::Module> module =
      launch.module != nullptr ? launch.module : load_module(launch.ptx, launch.entry);
  return module->program(entry_of(*module, launch.entry), launch.approximate);
}

size_t count_launches(const Launch& launch) {
  return 1 + static_cast<size_t>(std::count_if(launch.then.begin(), launch.then.end(),
                                               [](const Step& s) { return !s.copy && !s.fill; }));
}

Ran::Ran(std::unique_ptr<isa::Context> context, std::unique_ptr<Placed> placed, isa::ModuleHandle module)
    : context_(std::move(context)), placed_(std::move(placed)), module_(module) {}
Ran::Ran(Ran&&) noexcept = default;
Ran::~Ran() = default;

std::vector<std::byte> Ran::buffer(const Launch& launch, size_t number, uint64_t most) const {
  std::vector<std::byte> out(std::min(launch.buffers[number].size(), most));
  context_->read({placed_->addresses()[number], out.size(), 0}, out);
  return out;
}

std::optional<uint64_t> Ran::difference(const Ran& other, size_t number) const {
  const auto region = [&](const Ran& of) {
    return of.context_->memory().find(of.placed_->addresses()[number], 0);
  };
  const machine::Region *mine = region(*this), *others = region(other);
  return machine::first_difference(*mine, *others);
}

std::byte Ran::byte(size_t number, uint64_t at) const {
  std::byte out{};
  context_->read({placed_->addresses()[number] + at, 1, 0}, {&out, 1});
  return out;
}

std::vector<std::byte> Ran::variable(const Launch& launch, size_t number) const {
  return Variables(*context_, module_).read(launch.variables[number]);
}

void Ran::keep(Launch& launch) const {
  placed_->read_back(launch);
  Variables(*context_, module_).read_back(launch);
}

}  // namespace bitwell::launch
