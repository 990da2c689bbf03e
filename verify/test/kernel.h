// A kernel of a few lines of PTX, as tests write them: its text around a body, its launch, and what it
// leaves. Of a text that is there already, or a file: run_ptx and run_file.
#pragma once
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/failure.h"
#include "uses_against.h"
#include "verify/launch/modules.h"

namespace bitwell::test {

inline launch::Buffer input(std::vector<std::byte> bytes) {
  return {"in", std::move(bytes), true, true, false};
}
inline launch::Buffer output(size_t bytes) {
  return {"out", std::vector<std::byte>(bytes), true, false, true};
}

using Module = std::shared_ptr<const isa::Module>;
inline Module module_of(const std::string& text) { return std::make_shared<const isa::Module>(text); }

// Where BITWELL_USES is set, the kernel must touch nothing but what the uses of its instructions say.
inline run::RunResult run_launch(launch::Launch& l, const run::Options& options, bool all_written) {
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
// Runs the launch's entry of a text, or of a module; the launch then holds what it left.
inline run::RunResult run_ptx(Module module, launch::Launch& l, const run::Options& options = {},
                              bool all_written = true) {
  l.module = std::move(module);
  return run_launch(l, options, all_written);
}
inline run::RunResult run_ptx(const std::string& text, launch::Launch& l, const run::Options& options = {},
                              bool all_written = true) {
  return run_ptx(module_of(text), l, options, all_written);
}
// The same of the files that the launch names, each of which is read once.
inline run::RunResult run_file(launch::Launch& l, const run::Options& options = {}, bool all_written = true) {
  static launch::Modules files;
  if (l.module == nullptr) files.load(l);
  return run_launch(l, options, all_written);
}

// What a run came to.
struct Left {
  std::string fault{};  // or why it is refused; empty where it held
  std::vector<run::Note> notes{};
  std::vector<launch::Buffer> buffers{};

  std::string end() const { return fault.empty() ? "held" : fault; }
  // What buffer number n holds.
  template <class T>
  std::vector<T> all(size_t n) const {
    const std::vector<std::byte>& bytes = buffers.at(n).bytes;
    std::vector<T> out(bytes.size() / sizeof(T));
    std::memcpy(out.data(), bytes.data(), out.size() * sizeof(T));
    return out;
  }
};

// The entry is `k`. Parts of the text may end without a new line.
struct Kernel {
  std::string version = "9.0";
  std::string target = "sm_90a";
  std::string module{};      // what stands before the entry
  std::string parameters{};  // ".param .u64 out"
  std::string directives{};  // ".maxntid 128"
  std::string registers{};
  std::string shared{};
  std::string start{};  // instructions before the body
  std::string body{};
  std::string finish{};  // instructions behind it, before "ret;"
  run::Shape shape{.block = {32, 1, 1}};
  std::vector<launch::Buffer> buffers{};  // the arguments
  run::Options options{};
  bool all_written = true;  // outputs must be

  std::string text() const { return head() + ended(body) + ended(finish) + "ret;\n}\n"; }
  // Where the body's first instruction stands.
  int first_line() const {
    const std::string before = head();
    return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  }
  std::shared_ptr<const isa::Program> program() const { return module_of(text())->program("k"); }
  // What is said against the text; empty where it is accepted.
  std::string refusal() const {
    try {
      program();
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  }
  launch::Launch launch() const {
    launch::Launch out;
    out.entry = "k";
    out.shape = shape;
    for (const launch::Buffer& b : buffers) out.add_buffer(b);
    return out;
  }
  // Faults and refusals are told; held() lets them escape, as tests want it that expect none.
  Left run() const { return run(launch()); }
  Left held() const { return held(launch()); }
  // As launched otherwise: with scalars, tensor maps.
  Left run(launch::Launch l) const {
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
  Left held(launch::Launch l) const {
    Left left;
    left.notes = run_ptx(text(), l, options, all_written).notes;
    left.buffers = std::move(l.buffers);
    return left;
  }

 private:
  static std::string ended(const std::string& part) {
    return part.empty() || part.back() == '\n' ? part : part + "\n";
  }
  std::string head() const {
    return ".version " + version + "\n.target " + target + "\n.address_size 64\n" + ended(module) +
           ".visible .entry k(" + parameters + ") " + directives + " {\n" + ended(registers) + ended(shared) +
           ended(start);
  }
};

}  // namespace bitwell::test
