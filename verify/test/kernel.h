// A kernel of a few lines of PTX, as tests write them: its text around a body, its launch, and what it
// leaves. Of a text that is there already, or a file: run_ptx and run_file.
// The bodies stand in kernel.cpp, so that they are compiled once and not by every test.
#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "verify/launch/modules.h"

namespace bitwell::test {

launch::Buffer input(std::vector<std::byte> bytes);
launch::Buffer output(size_t bytes);

using Module = std::shared_ptr<const isa::Module>;
Module module_of(const std::string& text);

// Where BITWELL_USES is set, the kernel must touch nothing but what the uses of its instructions say.
run::RunResult run_launch(launch::Launch& l, const run::Options& options, bool all_written);
// Runs the launch's entry of a text, or of a module; the launch then holds what it left.
run::RunResult run_ptx(Module module, launch::Launch& l, const run::Options& options = {},
                       bool all_written = true);
run::RunResult run_ptx(const std::string& text, launch::Launch& l, const run::Options& options = {},
                       bool all_written = true);
// The same of the files that the launch names, each of which is read once.
run::RunResult run_file(launch::Launch& l, const run::Options& options = {}, bool all_written = true);

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

  std::string text() const;
  // Where the body's first instruction stands.
  int first_line() const;
  std::shared_ptr<const isa::Program> program() const;
  // What is said against the text; empty where it is accepted.
  std::string refusal() const;
  launch::Launch launch() const;
  // Faults and refusals are told; held() lets them escape, as tests want it that expect none.
  Left run() const;
  Left held() const;
  // As launched otherwise: with scalars, tensor maps.
  Left run(launch::Launch l) const;
  Left held(launch::Launch l) const;

 private:
  std::string head() const;
};

}  // namespace bitwell::test
