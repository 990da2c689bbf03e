#include "kernel.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "model/machine/failure.h"
#include "uses_against.h"

namespace bitwell::test {

launch::Buffer input(std::vector<std::byte> bytes) { return {"in", std::move(bytes), true, true, false}; }
launch::Buffer output(size_t bytes) { return {"out", std::vector<std::byte>(bytes), true, false, true}; }

Module module_of(const std::string& text) { return std::make_shared<const isa::Module>(text); }

run::RunResult run_launch(launch::Launch& l, const run::Options& options, bool all_written) {
  if (std::getenv("BITWELL_USES") == nullptr) {
    launch::Ran ran = launch::simulate(l, options, all_written);
    ran.keep(l);
    return std::move(ran.result);
  }
  std::shared_ptr<const isa::Program>
      program;  // compiled when it runs: what is refused is told by the launch
  std::optional<UsesAgainst> against;
  machine::Observer observer;
  observer.accesses = true;
  observer.steps = false;
  observer.tell = [&](const machine::Event& event) {
    if (!against) {
      program = l.module->program(l.entry, l.approximate);
      against.emplace(*program);
    }
    against->look(event);
  };
  run::Options held = options;
  held.observers.push_back(observer);
  launch::Ran ran = launch::simulate(l, held, all_written);
  if (against && !against->wrong().empty()) throw machine::ModelBug("uses: " + against->wrong());
  ran.keep(l);
  return std::move(ran.result);
}
run::RunResult run_ptx(Module module, launch::Launch& l, const run::Options& options, bool all_written) {
  l.module = std::move(module);
  return run_launch(l, options, all_written);
}
run::RunResult run_ptx(const std::string& text, launch::Launch& l, const run::Options& options,
                       bool all_written) {
  return run_ptx(module_of(text), l, options, all_written);
}
run::RunResult run_file(launch::Launch& l, const run::Options& options, bool all_written) {
  static launch::Modules files;
  if (l.module == nullptr) files.load(l);
  return run_launch(l, options, all_written);
}

namespace {
std::string ended(const std::string& part) {
  return part.empty() || part.back() == '\n' ? part : part + "\n";
}
}  // namespace

std::string Kernel::head() const {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n" + ended(module) +
         ".visible .entry k(" + parameters + ") " + directives + " {\n" + ended(registers) + ended(shared) +
         ended(start);
}
std::string Kernel::text() const { return head() + ended(body) + ended(finish) + "ret;\n}\n"; }
int Kernel::first_line() const {
  const std::string before = head();
  return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
}
std::shared_ptr<const isa::Program> Kernel::program() const { return module_of(text())->program("k"); }
std::string Kernel::refusal() const {
  try {
    program();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}
launch::Launch Kernel::launch() const {
  launch::Launch out;
  out.entry = "k";
  out.shape = shape;
  for (const launch::Buffer& b : buffers) out.add_buffer(b);
  return out;
}

Left Kernel::run() const { return run(launch()); }
Left Kernel::held() const { return held(launch()); }
Left Kernel::run(launch::Launch l) const {
  Left left;
  try {
    left.notes = run_ptx(text(), l, options, all_written).notes;
  } catch (const machine::Fault& e) {
    left.fault = e.what();
  } catch (const machine::Unsupported& e) {
    left.fault = e.what();
  } catch (const machine::InputError& e) {
    left.fault = e.what();
  }
  left.buffers = std::move(l.buffers);
  return left;
}
Left Kernel::held(launch::Launch l) const {
  Left left;
  left.notes = run_ptx(text(), l, options, all_written).notes;
  left.buffers = std::move(l.buffers);
  return left;
}

}  // namespace bitwell::test
