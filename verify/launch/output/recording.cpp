#include "verify/launch/output/recording.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "model/machine/memory/heap.h"
#include "model/strict_json/write.h"
#include "verify/launch/output/hexadecimal.h"

namespace bitwell::launch {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMostHeap = uint64_t{8} << 20;  // bytes of device code's malloc, where nobody says
constexpr size_t kMostName = 60;
constexpr uint64_t kHighest = uint64_t{1} << 56;  // no address is as high

// A part of a file's name, which no other buffer has.
std::string name_of(const std::string& name, std::set<std::string>& taken) {
  std::string plain;
  for (const char c : name.substr(0, kMostName))
    plain += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '-' ? c : '_';
  if (plain.empty() || plain[0] == '.') plain = "_" + plain;
  std::string out = plain;
  for (int i = 2; !taken.insert(out).second; ++i) out = plain + "." + std::to_string(i);
  return out;
}

// Calls f with each eight bytes, on boundaries of 4, that may be an address of global memory.
template <class F>
void each_address(std::span<const std::byte> bytes, F f) {
  for (size_t at = 0; at + 8 <= bytes.size(); at += 4) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    if (word < kHighest && machine::is_global(word)) f(at, word);
  }
}

bool is_variable(uint64_t address) {
  return address >= machine::kModuleGlobals && address < machine::kBuffers;
}

}  // namespace

std::vector<uint64_t> reached(machine::Memory& memory, const std::vector<isa::Argument>& arguments) {
  std::set<uint64_t> out;
  std::vector<std::vector<std::byte>> looks;
  for (const isa::Argument& a : arguments) looks.push_back(a.bytes);
  while (!looks.empty()) {
    const std::vector<std::byte> look = std::move(looks.back());
    looks.pop_back();
    each_address(look, [&](size_t, uint64_t word) {
      const machine::Region* const r = is_variable(word) ? nullptr : memory.find(word, 1);
      if (r == nullptr || !out.insert(r->base()).second || r->size() > kFollowed) return;
      looks.emplace_back(r->raw_bytes(), r->raw_bytes() + r->size());
    });
  }
  return {out.begin(), out.end()};
}

Recording::Recording(isa::Context& context, const isa::KernelLaunch& launch,
                     const std::vector<uint64_t>& buffers)
    : module_(context.module(launch.module)), entry_(launch.entry), shape_(launch.shape) {
  for (const isa::Argument& a : launch.arguments) arguments_.push_back(a.bytes);
  std::vector<uint64_t> in_order = buffers;
  std::sort(in_order.begin(), in_order.end());
  std::set<std::string> names;
  for (const uint64_t address : in_order) take(context, address);
  for (Buffer& b : buffers_) b.name = name_of(b.name, names);
  for (const isa::GlobalVariable& v : context.variables(launch.module)) {
    if (v.size == 0) continue;
    std::vector<std::byte> bytes(v.size);
    context.read({v.address, v.size, 0}, bytes);
    variables_.push_back({v.name, name_of(v.name, names), v.is_const, std::move(bytes)});
  }
  const machine::Heap& heap = context.memory().heap();
  heap_ = heap.limit;
  if (heap.left().objects != 0) lacks_.push_back("objects that malloc gave to launches before it");
  move_variables(context, launch.module);
}

void Recording::take(isa::Context& context, uint64_t address) {
  const machine::Region* const r = context.memory().find(address, 0);
  if (r == nullptr || r->base() != address)
    throw machine::InputError("no buffer starts at address " + std::to_string(address) + ", " +
                              context.memory().describe(address));
  Buffer b{r->name(), r->base(), r->size(), r->read_only, {}, {}, r->scratch};
  bool any = true;
  if (const uint8_t* const mask = r->raw_defined();
      mask != nullptr && !machine::all_written(mask, r->size())) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(mask);
    any = std::any_of(bytes, bytes + r->size(), [](std::byte m) { return m != std::byte{0}; });
    if (any) b.written.assign(bytes, bytes + r->size());
  }
  if (any) b.bytes.assign(r->raw_bytes(), r->raw_bytes() + r->size());
  buffers_.push_back(std::move(b));
}

// The launch file's module is the only one, and its variables stand where those of the first do: arguments
// that point to them follow.
void Recording::move_variables(isa::Context& context, isa::ModuleHandle module) {
  const uint64_t from = context.place(module).globals;
  variables_moved_ = from != machine::kModuleGlobals;
  const std::vector<isa::GlobalVariable>& own = context.variables(module);
  const auto is_own = [&](uint64_t a) {
    return std::any_of(own.begin(), own.end(), [&](const isa::GlobalVariable& v) {
      return !v.is_const && a >= v.address && a - v.address < v.size;
    });
  };
  bool others = false, textures = false;
  for (std::vector<std::byte>& bytes : arguments_) {
    for (size_t at = 0; at + 8 <= bytes.size(); at += 4) {
      uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      textures |= context.memory().texture(word) != nullptr;
      if (!is_variable(word) || context.memory().find(word, 1) == nullptr) continue;
      others |= !is_own(word);
      word = word - from + machine::kModuleGlobals;
      if (is_own(word - machine::kModuleGlobals + from)) std::memcpy(bytes.data() + at, &word, sizeof word);
    }
  }
  if (others) lacks_.push_back("variables of other modules, to which an argument points");
  if (textures) lacks_.push_back("textures and surfaces");
}

std::vector<std::string> Recording::lacks(machine::Memory& memory) const {
  std::vector<std::string> out = lacks_;
  for (const Buffer& b : buffers_) {
    const machine::Region* beyond = nullptr;
    each_address(b.bytes, [&](size_t, uint64_t word) {
      const machine::Region* const r = beyond == nullptr ? memory.find(word, 1) : nullptr;
      if (r == nullptr || (is_variable(word) && !variables_moved_)) return;
      const auto kept = [&](const Buffer& other) { return other.address == r->base(); };
      if (std::none_of(buffers_.begin(), buffers_.end(), kept)) beyond = r;
    });
    if (beyond != nullptr)
      out.push_back((is_variable(beyond->base()) ? "variable '" : "'") + beyond->name() + "', to which '" +
                    b.name + "' points");
  }
  return out;
}

std::string Recording::text(const std::string& ptx, const Keep& keep, const Leaves& leaves) const {
  Json j{{"ptx", ptx}, {"entry", entry_}, {"grid", shape_.grid}, {"block", shape_.block}};
  if (shape_.explicit_cluster) j["cluster"] = shape_.cluster;
  if (shape_.non_portable_cluster) j["non_portable_cluster"] = true;
  if (shape_.dynamic_shared != 0) j["dynamic_shared_bytes"] = shape_.dynamic_shared;
  if (shape_.registers != 0) j["registers"] = shape_.registers;
  if (shape_.cooperative) j["cooperative"] = true;
  if (heap_ != kMostHeap) j["heap"] = heap_;
  j["buffers"] = Json::array();
  for (const Buffer& b : buffers_) {
    const auto overlaps = [&](const isa::Allocation& o) {
      return o.address < b.address + b.size && b.address < o.address + o.bytes;
    };
    const auto all_of_it = [&](const isa::Allocation& o) {
      return o.address <= b.address && b.address + b.size <= o.address + o.bytes;
    };
    const auto any = [&](const auto& f) {
      return std::any_of(leaves.outputs.begin(), leaves.outputs.end(), f);
    };
    const bool output = !b.read_only && (leaves.outputs.empty() || any(overlaps));
    Json one{{"buffer", b.name}, {"address", b.address}};
    if (!b.bytes.empty())
      one["bin"] = keep(b.name, b.bytes);
    else if (output || b.size == 0)
      one["unwritten"] = b.size;
    else
      one["zeros"] = b.size;  // with a mask: what is no output, and unwritten, may be stored to in pieces
    if (!b.written.empty())
      one["written"] = keep(b.name + ".written", b.written);
    else if (one.contains("zeros"))
      one["written"] = keep(b.name + ".written", std::vector<std::byte>(b.size));
    if (b.read_only) one["read_only"] = true;
    if (output) {
      one["output"] = "out/" + b.name + ".bin";
      if (b.partly_written)
        one["partly_written"] = true;
      else if (!leaves.all_written || !any(all_of_it))
        one["all_written"] = false;
    }
    j["buffers"].push_back(std::move(one));
  }
  j["arguments"] = Json::array();
  for (const std::vector<std::byte>& bytes : arguments_) {
    Json one{{"bytes", hexadecimal(bytes)}};
    if (uint64_t address = 0; bytes.size() == sizeof address) {
      std::memcpy(&address, bytes.data(), sizeof address);
      for (const Buffer& b : buffers_)
        if (address >= b.address && address - b.address < b.size)
          one = {{"pointer", b.name}, {"offset", address - b.address}};
    }
    j["arguments"].push_back(std::move(one));
  }
  for (const Variable& v : variables_) {
    Json one{{"variable", v.name}, {"bin", keep(v.file, v.bytes)}};
    if (!v.is_const) one["output"] = "out/" + v.file + ".bin";
    j["variables"].push_back(std::move(one));
  }
  return strict_json::dumped(j, 1) + "\n";
}

}  // namespace bitwell::launch
