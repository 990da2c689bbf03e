#include "verify/driver/core/recorder.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "verify/driver/core/state.h"

namespace bitwell::driver {
namespace {

using Ordered = nlohmann::ordered_json;
namespace fs = std::filesystem;
using machine::InputError;

constexpr uint64_t kBoundary = 256;  // on which a launch file's buffers stand

void write_file(const fs::path& path, const void* bytes, size_t size) {
  std::ofstream out(path, std::ios::binary);
  out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  if (!out.flush()) throw InputError("cannot write '" + path.string() + "'");
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string out;
  for (const std::byte b : bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    out += digits[static_cast<uint8_t>(b) >> 4];
    out += digits[static_cast<uint8_t>(b) & 15];
  }
  return out;
}

}  // namespace

std::string Recorder::file_of(const std::string& name, std::span<const std::byte> bytes, uint64_t number) {
  const size_t hash =
      std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  auto& [was, file] = last_[name];
  if (file.empty() || was != hash) {
    file = "buffers/" + name + "." + std::to_string(number) + ".bin";
    was = hash;
    write_file(fs::path(state_.asked.record) / file, bytes.data(), bytes.size());
  }
  return "../" + file;
}

std::string Recorder::record(const Wanted& w, uint64_t number) {
  const Asked& a = state_.asked;
  const bool large = a.record_bytes != 0 && state_.memory.bytes() > a.record_bytes;
  if (large || (a.record_count != 0 && kept_ >= a.record_count)) {
    if (!said_)
      say("launch " + std::to_string(number) + " is not kept" +
          (large ? ": its memory has " + std::to_string(state_.memory.bytes()) + " bytes (--record-bytes)"
                 : ", as " + std::to_string(kept_) + " are (--record-count)"));
    said_ = true;
    return "";
  }
  ++kept_;
  char name[16];
  std::snprintf(name, sizeof name, "%04d", static_cast<int>(number));
  const fs::path top = a.record, folder = top / name;
  fs::create_directories(folder / "out");
  fs::create_directories(top / "buffers");
  isa::Context& context = state_.process.context();
  const isa::ModuleHandle part = state_.modules.part(*w.kernel);
  const std::string module = state_.modules.path(*w.kernel);
  if (!fs::exists(top / module)) {
    const std::string& text = context.module(part)->text();
    write_file(top / module, text.data(), text.size());
  }
  Ordered j{
      {"ptx", "../" + module}, {"entry", w.kernel->name}, {"grid", w.shape.grid}, {"block", w.shape.block}};
  if (w.shape.explicit_cluster) j["cluster"] = w.shape.cluster;
  if (w.shape.non_portable_cluster) j["non_portable_cluster"] = true;
  if (w.shape.dynamic_shared != 0) j["dynamic_shared_bytes"] = w.shape.dynamic_shared;
  if (w.shape.cooperative) j["cooperative"] = true;
  j["buffers"] = Ordered::array();
  for (const auto& [address, b] : state_.memory.all()) {
    const uint64_t before = address % kBoundary;
    std::vector<std::byte> bytes(before + b.bytes);
    context.read({address, b.bytes, 0}, std::span(bytes).subspan(before));
    j["buffers"].push_back({{"buffer", b.name},
                            {"bin", file_of(b.name, bytes, number)},
                            {"address", address - before},
                            {"output", "out/" + b.name + ".bin"}});
  }
  j["arguments"] = Ordered::array();
  for (const auto& bytes : w.arguments) {
    uint64_t address = 0;
    if (bytes.size() == sizeof address) std::memcpy(&address, bytes.data(), sizeof address);
    if (const Block* const b = address == 0 ? nullptr : state_.memory.find(address); b != nullptr)
      j["arguments"].push_back(
          {{"pointer", b->name}, {"offset", address - b->address + b->address % kBoundary}});
    else
      j["arguments"].push_back({{"bytes", hexadecimal(bytes)}});
  }
  for (const isa::GlobalVariable& v : context.variables(part)) {
    std::vector<std::byte> bytes(v.size);
    context.read({v.address, v.size, 0}, bytes);
    Ordered one{{"variable", v.name}, {"bin", file_of(v.name, bytes, number)}};
    if (!v.is_const) one["output"] = "out/" + v.name + ".bin";
    j["variables"].push_back(std::move(one));
  }
  const std::string text = j.dump(1) + "\n";
  write_file(folder / "launch.json", text.data(), text.size());
  return folder.string();
}

}  // namespace bitwell::driver
