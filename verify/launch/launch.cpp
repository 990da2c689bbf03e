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
#include "verify/launch/one_by_one.h"
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

isa::Program load_program(const std::string& path, const std::string& entry, isa::Approximate approximate,
                          const machine::ModulePlace& place) {
  const EntryText text = read_entry(path, entry);
  return naming(path, [&] { return isa::compile(ptx::parse(text.ptx), text.entry, approximate, place); });
}

size_t count_launches(const Launch& launch) {
  return 1 + static_cast<size_t>(std::count_if(launch.then.begin(), launch.then.end(),
                                               [](const Step& s) { return !s.copy && !s.fill; }));
}

isa::RunResult simulate(const isa::Program& program, Launch& launch, const isa::Options& options,
                        bool all_written) {
  return simulate_one_by_one(program, launch, options, all_written, nullptr);
}

isa::RunResult simulate_one_by_one(const isa::Program& program, Launch& launch, const isa::Options& options,
                                   bool all_written, const Beginning& beginning) {
  check_memory(program, launch);
  machine::Memory memory;
  if (launch.heap) memory.heap().limit = *launch.heap;
  const Placed placed(memory, launch);
  const auto arguments = placed.arguments(launch.arguments);
  isa::check_launch(program, launch.shape, arguments);  // before anything else is placed
  machine::Region constants = isa::place_variables(program, memory);
  const Variables variables(program, memory, constants);
  variables.write(launch);
  isa::RunResult result = run_steps(program, launch, placed, memory, constants, options, beginning);
  placed.read_back(launch, all_written && options.checked);
  variables.read_back(launch);
  variables.note_unwritten(launch, result.notes);
  note_left(memory, result.notes);
  return result;
}

}  // namespace bitwell::verify
