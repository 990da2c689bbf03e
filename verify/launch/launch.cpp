#include "verify/launch/launch.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include "model/machine/heap.h"
#include "model/machine/where.h"
#include "verify/launch/entry_text.h"
#include "verify/launch/memory_limit.h"
#include "verify/launch/placed.h"
#include "verify/launch/steps.h"
#include "verify/launch/variables.h"

namespace bitwell::verify {
namespace {

// What device code's malloc gave and nobody freed.
void note_left(machine::Memory& memory, std::vector<isa::Note>& notes) {
  const machine::Heap::Left left = memory.heap().left();
  if (left.objects == 0) return;
  notes.emplace_back().text = std::to_string(left.objects) + (left.objects == 1 ? " object" : " objects") +
                              " that malloc gave, " + std::to_string(left.bytes) +
                              " bytes, never freed; the first at " + machine::where(left.first);
}

}  // namespace

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

std::shared_ptr<const isa::Module> load_module(const std::string& path) {
  return std::make_shared<const isa::Module>(read_ptx(path), path);
}

isa::Program load_program(const std::string& path, const std::string& entry, isa::Approximate approximate) {
  const std::shared_ptr<const isa::Module> module = load_module(path);
  const std::string name = entry_of(*module, entry);
  const ptx::Module& syntax = module->syntax(name);
  return naming(path, [&] { return isa::compile(syntax, name, approximate); });
}

std::shared_ptr<const isa::Program> program_of(const Launch& launch) {
  const std::shared_ptr<const isa::Module> module =
      launch.module != nullptr ? launch.module : load_module(launch.ptx);
  return module->program(entry_of(*module, launch.entry), launch.approximate);
}

size_t count_launches(const Launch& launch) {
  return 1 + static_cast<size_t>(std::count_if(launch.then.begin(), launch.then.end(),
                                               [](const Step& s) { return !s.copy && !s.fill; }));
}

Ran::Ran(std::unique_ptr<Context> context, std::unique_ptr<Placed> placed, ModuleHandle module)
    : context_(std::move(context)), placed_(std::move(placed)), module_(module) {}
Ran::Ran(Ran&&) noexcept = default;
Ran::~Ran() = default;

std::vector<std::byte> Ran::buffer(const Launch& launch, size_t number) const {
  std::vector<std::byte> out(launch.buffers[number].size());
  context_->read({placed_->addresses()[number], out.size(), 0}, out);
  return out;
}

std::vector<std::byte> Ran::variable(const Launch& launch, size_t number) const {
  return Variables(*context_, module_).read(launch.variables[number]);
}

void Ran::keep(Launch& launch) const {
  placed_->read_back(launch);
  Variables(*context_, module_).read_back(launch);
}

Ran simulate(const Launch& launch, const isa::Options& options, bool all_written,
             const Beginning& beginning) {
  const std::shared_ptr<const isa::Module> module =
      launch.module != nullptr ? launch.module : load_module(launch.ptx);
  const std::string entry = entry_of(*module, launch.entry);
  const std::shared_ptr<const isa::Program> program = module->program(entry, launch.approximate);
  check_memory(*program, launch);
  auto context = std::make_unique<Context>(ContextOptions{launch.heap});
  auto placed = std::make_unique<Placed>(context->memory(), launch);
  isa::check_launch(*program, launch.shape, placed->arguments(launch.arguments));  // before more is placed
  const ModuleHandle first = context->load(module, launch.approximate);
  const Variables variables(*context, first);
  variables.write(launch);
  Context& in = *context;
  Ran ran(std::move(context), std::move(placed), first);
  ran.result = run_steps({first, entry}, launch, ran.placed(), in, options, beginning);
  if (all_written && options.checked) ran.placed().require_written(launch);
  variables.note_unwritten(launch, ran.result.notes);
  note_left(in.memory(), ran.result.notes);
  return ran;
}

isa::RunResult simulate(const isa::Program& program, Launch& launch, const isa::Options& options,
                        bool all_written) {
  // The caller's, as long as this runs.
  const std::shared_ptr<const isa::Program> ready(std::shared_ptr<const void>(), &program);
  const bool shared = std::any_of(launch.then.begin(), launch.then.end(), [&](const Step& s) {
    return s.module == nullptr && !s.ptx.empty() && s.ptx == launch.ptx;
  });
  std::shared_ptr<const isa::Module> rest =
      launch.module == nullptr && shared ? load_module(launch.ptx) : launch.module;
  const struct Exchanged {
    Exchanged(Launch& in, std::shared_ptr<const isa::Module> module, std::string entry)
        : launch(in),
          module_before(std::exchange(in.module, std::move(module))),
          entry_before(std::exchange(in.entry, std::move(entry))) {}
    ~Exchanged() {
      launch.module = module_before;
      launch.entry = entry_before;
    }
    Launch& launch;
    std::shared_ptr<const isa::Module> module_before;
    std::string entry_before;
  } exchanged{launch, std::make_shared<const isa::Module>(ready, std::move(rest)),
              program.functions[static_cast<size_t>(program.entry)].name};
  Ran ran = simulate(launch, options, all_written);
  ran.keep(launch);
  return std::move(ran.result);
}

}  // namespace bitwell::verify
