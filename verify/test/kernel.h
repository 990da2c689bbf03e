// A kernel of a few lines of PTX, as tests write them: its text around a body, its launch, and what it
// leaves.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "model/isa/compile/compile.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "verify/launch/launch.h"

namespace bitwell::verify::test {

inline Buffer input(std::vector<std::byte> bytes) { return {"in", std::move(bytes), true, true, false}; }
inline Buffer output(size_t bytes) { return {"out", std::vector<std::byte>(bytes), true, false, true}; }

// What a run came to.
struct Left {
  std::string fault{};  // or why it is not supported; empty where it held
  std::vector<isa::Note> notes{};
  std::vector<Buffer> buffers{};

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
  isa::Shape shape{.block = {32, 1, 1}};
  std::vector<Buffer> buffers{};  // the arguments
  isa::Options options{};

  std::string text() const { return head() + ended(body) + ended(finish) + "ret;\n}\n"; }
  // Where the body's first instruction stands.
  int first_line() const {
    const std::string before = head();
    return 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  }
  isa::Program program() const { return isa::compile(ptx::parse(text()), "k"); }
  // What is said against the text; empty where it is accepted.
  std::string refusal() const {
    try {
      program();
    } catch (const std::exception& e) {
      return e.what();
    }
    return "";
  }
  Launch launch() const {
    Launch out;
    out.entry = "k";
    out.shape = shape;
    for (const Buffer& b : buffers) out.add_buffer(b);
    return out;
  }
  // Faults are told; held() lets them escape, as tests want it that expect none.
  Left run() const { return run(launch()); }
  Left held() const { return held(launch()); }
  // As launched otherwise: with scalars, tensor maps.
  Left run(Launch l) const {
    Left left;
    try {
      left.notes = simulate(program(), l, options, true).notes;
    } catch (const machine::Fault& e) {
      left.fault = e.what();
    } catch (const machine::Unsupported& e) {
      left.fault = e.what();
    }
    left.buffers = std::move(l.buffers);
    return left;
  }
  Left held(Launch l) const {
    Left left;
    left.notes = simulate(program(), l, options, true).notes;
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

}  // namespace bitwell::verify::test
