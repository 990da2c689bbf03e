// Kernels of a few warps, each with a few accesses to a few shared words, and what an enumeration of all
// their interleavings says of them: by its own interpreter, which shares nothing with the simulator.
#pragma once
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "verify/schedules/exhaust.h"

namespace bitwell::explore {

// One access of a warp to a word; what it reads is left in the warp's next output.
struct Step {
  enum Kind : uint8_t { store, load, plus, cas } kind;
  uint32_t word;
  uint32_t value;  // stored or added; of cas: put in place of 0
};
using Warps = std::vector<std::vector<Step>>;

inline constexpr uint32_t kWords = 4;
inline constexpr uint32_t kOutputs = 8;  // of a warp

// The first lane of each warp does its steps, on words that are 0 before; outputs and words are left in the
// buffer behind each other.
inline std::string ptx_of(const Warps& warps) {
  std::string out =
      ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel(.param .u64 pout)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %a<4>;\nld.param.u64 %a0, [pout];\n"
      "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 31;\nsetp.eq.u32 %p0, %r1, 0;\nshr.u32 %r1, %r0, 5;\n";
  for (size_t w = 0; w < warps.size(); ++w)
    out += "setp.eq.u32 %p1, %r1, " + std::to_string(w) + ";\n@%p1 bra warp" + std::to_string(w) + ";\n";
  const auto at = [](size_t word) { return "[%a0+" + std::to_string(4 * word) + "]"; };
  for (size_t w = 0; w < warps.size(); ++w) {
    out += "warp" + std::to_string(w) + ":\n";
    size_t output = kWords + w * kOutputs;
    for (const Step& s : warps[w]) {
      const std::string value = std::to_string(s.value), word = at(s.word);
      switch (s.kind) {
        case Step::store: out += "@%p0 st.global.u32 " + word + ", " + value + ";\n"; continue;
        case Step::load: out += "@%p0 ld.volatile.global.u32 %r2, " + word + ";\n"; break;
        case Step::plus: out += "@%p0 atom.global.add.u32 %r2, " + word + ", " + value + ";\n"; break;
        case Step::cas: out += "@%p0 atom.global.cas.b32 %r2, " + word + ", 0, " + value + ";\n"; break;
      }
      out += "@%p0 st.global.u32 " + at(output++) + ", %r2;\n";
    }
    out += "ret;\n";
  }
  return out + "}\n";
}

inline launch::Launch launch_of(const std::string& ptx, size_t warps, size_t words) {
  launch::Launch launch;
  launch.module = std::make_shared<const isa::Module>(ptx);
  launch.entry = "kernel";
  launch.shape.block[0] = static_cast<uint32_t>(32 * warps);
  launch::Buffer buffer;
  buffer.name = "words";
  buffer.bytes.resize(4 * words);
  buffer.output = true;
  launch.add_buffer(buffer);
  return launch;
}

inline launch::Launch launch_of(const Warps& warps) {
  return launch_of(ptx_of(warps), warps.size(), kWords + warps.size() * kOutputs);
}

using Words = std::vector<uint32_t>;
inline Words words_of(const std::vector<std::byte>& bytes) {
  Words out(bytes.size() / 4);
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

struct Expected {
  std::set<Words> outcomes;
  size_t traces = 0;  // interleavings that differ in the order of steps that conflict
};

// All interleavings, one after the other.
class Interleavings {
 public:
  explicit Interleavings(const Warps& warps) : warps_(warps), next_(warps.size()) {}
  Expected run() {
    memory_.assign(kWords + warps_.size() * kOutputs, 0);
    outputs_.assign(warps_.size(), 0);
    go();
    out_.traces = traces_.size();
    return out_;
  }

 private:
  struct Done {
    size_t warp, number;
    bool wrote;
    uint32_t word;
  };
  void go() {
    bool any = false;
    for (size_t w = 0; w < warps_.size(); ++w) {
      if (next_[w] == warps_[w].size()) continue;
      any = true;
      const Words memory = memory_;
      const auto outputs = outputs_;
      const Step& s = warps_[w][next_[w]];
      const uint32_t old = memory_[s.word];
      bool wrote = true;
      if (s.kind == Step::store) memory_[s.word] = s.value;
      if (s.kind == Step::load) wrote = false;
      if (s.kind == Step::plus) memory_[s.word] += s.value;
      if (s.kind == Step::cas) {
        wrote = old == 0 && s.value != 0;
        if (wrote) memory_[s.word] = s.value;
      }
      if (s.kind != Step::store) memory_[kWords + w * kOutputs + outputs_[w]++] = old;
      done_.push_back({w, next_[w]++, wrote, s.word});
      go();
      done_.pop_back();
      --next_[w];
      memory_ = memory;
      outputs_ = outputs;
    }
    if (any) return;
    out_.outcomes.insert(memory_);
    std::set<std::vector<size_t>> order;  // pairs of steps that conflict, the earlier first
    for (size_t i = 0; i < done_.size(); ++i)
      for (size_t j = i + 1; j < done_.size(); ++j)
        if (done_[i].warp != done_[j].warp && done_[i].word == done_[j].word &&
            (done_[i].wrote || done_[j].wrote))
          order.insert({done_[i].warp, done_[i].number, done_[j].warp, done_[j].number});
    traces_.insert(order);
  }

  const Warps& warps_;
  std::vector<size_t> next_, outputs_;
  Words memory_;
  std::vector<Done> done_;
  std::set<std::set<std::vector<size_t>>> traces_;
  Expected out_;
};

}  // namespace bitwell::explore
