// What goes out of a launch: its buffers after a run, and the launch itself as LAUNCH.json.
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map_bytes.h"
#include "model/strict_json/write.h"
#include "verify/launch/file/launch_json.h"
#include "verify/launch/file/npy.h"
#include "verify/launch/file/numbers.h"
#include "verify/launch/output/hexadecimal.h"

namespace bitwell::launch {
namespace {

using machine::InputError;
using nlohmann::json;
namespace fs = std::filesystem;

std::string_view bytes_view(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

json buffer_json(const Buffer& b, const std::string& folder, OutputFiles& files) {
  json item{{"buffer", b.name}};
  if (b.bytes.empty() && b.blank != 0) {
    item[b.defined ? "zeros" : "unwritten"] = b.blank;
  } else if (b.defined) {
    item["bin"] = b.name + ".bin";
    const std::string path = fs::path(folder) / (b.name + ".bin");
    files.plan(path, "the replay");
    files.write(path, bytes_view(b.bytes));
  } else {
    item["unwritten"] = b.bytes.size();
  }
  if (!b.written.empty()) {
    item["written"] = b.name + ".written";
    const std::string path = fs::path(folder) / (b.name + ".written");
    files.plan(path, "the replay");
    files.write(path, bytes_view(b.written));
  }
  if (b.partly_written) item["partly_written"] = true;
  if (!b.all_written && !b.partly_written) item["all_written"] = false;
  if (b.read_only) item["read_only"] = true;
  if (b.address) item["address"] = *b.address;
  if (b.output) item["output"] = b.name + ".npy";
  return item;
}

json tensor_map_json(const machine::TensorMap& m, const std::string& buffer) {
  const auto list = [&](const auto& values, size_t first) {
    json out = json::array();
    for (size_t d = first; d < m.rank; ++d) out.push_back(values[d]);
    return out;
  };
  if (m.im2col.channels != 0 || m.interleave != machine::TensorInterleave::none)  // which have no fields
    return {{"tensor_map", buffer}, {"offset", m.address}, {"bytes", hexadecimal(machine::encode(m))}};
  json item{{"tensor_map", buffer},
            {"offset", m.address},
            {"type", machine::kTensorTypes[static_cast<size_t>(m.type)].name},
            {"dims", list(m.dims, 0)},
            {"box", list(m.box, 0)},
            {"element_strides", list(m.element_strides, 0)},
            {"swizzle", machine::kTensorSwizzles[static_cast<size_t>(m.swizzle)].name},
            {"fill", m.fill_nan ? "nan" : "zero"},
            {"l2_promotion", machine::kL2Promotions[static_cast<size_t>(m.promotion)].name}};
  if (m.rank > 1) item["strides"] = list(m.strides, 1);
  return item;
}

// Of a scalar or a structure, with the pointers and maps in it.
json bytes_json(const Argument& a, const Launch& launch) {
  if (a.pointers.empty()) return {{"bytes", hexadecimal(a.scalar)}};
  std::map<uint64_t, const Pointer*> pointers;
  for (const Pointer& p : a.pointers) pointers.emplace(p.at, &p);
  json fields = json::array();
  uint64_t told = 0;  // bytes so far
  const auto bytes_up_to = [&](uint64_t end) {
    if (end > told)
      fields.push_back({{"at", told}, {"bytes", hexadecimal(std::span(a.scalar).subspan(told, end - told))}});
  };
  for (const auto& [at, pointer] : pointers) {
    const Pointer& p = *pointer;
    bytes_up_to(at);
    told = at + (p.tensor_map ? sizeof(machine::TensorMapBytes) : 8);
    json field = p.tensor_map ? tensor_map_json(*p.tensor_map, launch.buffers[p.buffer].name)
                              : json{{"pointer", launch.buffers[p.buffer].name}, {"offset", p.offset}};
    field["at"] = at;
    fields.push_back(std::move(field));
  }
  bytes_up_to(a.scalar.size());
  return {{"struct", fields}, {"size", a.scalar.size()}};
}

}  // namespace

void plan_outputs(const LaunchFile& file, OutputFiles& files) {
  for (const std::string& input : file.inputs) files.reads(input);
  for (const auto* outputs : {&file.outputs, &file.variable_outputs})
    for (const auto& [at, output] : *outputs)
      if (!output.path.empty()) files.plan(output.path, output.named_by);
}

void write_outputs(const LaunchFile& file, OutputFiles& files) {
  const auto write = [&](const Output& output, const std::vector<std::byte>& bytes) {
    if (output.path.empty()) return;
    if (fs::path(output.path).extension() != ".npy") return files.write(output.path, bytes_view(bytes));
    if (!output.format.empty())
      return files.write(output.path, npy_text(unpacked(bytes, output.format, output.shape)));
    std::vector<uint64_t> shape = output.shape;
    if (shape.empty()) shape = {bytes.size() / element_size(output.dtype)};
    files.write(output.path, npy_text({output.dtype, shape, bytes}));
  };
  for (const auto& [at, output] : file.outputs) write(output, file.launch.buffers[at].bytes);
  for (const auto& [at, output] : file.variable_outputs) write(output, file.launch.variables[at].after);
}

std::string write_launch(const Launch& launch, const std::string& folder) {
  for (const Argument& a : launch.arguments)
    for (const Pointer& p : a.pointers)
      if (p.texture) throw machine::Unsupported("a replay of a launch with textures");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError("cannot make the folder '" + folder + "': " + error.message());
  OutputFiles files;
  files.reads(launch.ptx);
  json j;
  j["ptx"] = fs::absolute(launch.ptx).string();
  j["entry"] = launch.entry;
  j["grid"] = launch.shape.grid;
  j["block"] = launch.shape.block;
  if (launch.shape.explicit_cluster || launch.shape.cluster != std::array<uint32_t, 3>{1, 1, 1})
    j["cluster"] = launch.shape.cluster;
  if (launch.shape.non_portable_cluster) j["non_portable_cluster"] = true;
  j["dynamic_shared_bytes"] = launch.shape.dynamic_shared;
  if (launch.shape.registers != 0) j["registers"] = launch.shape.registers;
  if (launch.shape.cooperative) j["cooperative"] = true;
  // A buffer stands where its address is first passed, unless something leads to it before that.
  std::set<size_t> known;
  std::set<size_t> passed;
  for (const Argument& a : launch.arguments)
    if (!a.pointers.empty())
      for (const Pointer& p : a.pointers) known.insert(p.buffer);
    else if (a.scalar.empty() && known.insert(a.buffer).second && !a.tensor_map)
      passed.insert(a.buffer);
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (passed.count(i) == 0) j["buffers"].push_back(buffer_json(launch.buffers[i], folder, files));
  j["arguments"] = json::array();
  for (const Argument& a : launch.arguments) {
    json item;
    if (!a.scalar.empty()) {
      item = bytes_json(a, launch);
    } else if (a.tensor_map) {
      item = tensor_map_json(*a.tensor_map, launch.buffers[a.buffer].name);
    } else if (passed.erase(a.buffer) != 0) {
      item = buffer_json(launch.buffers[a.buffer], folder, files);
    } else {
      item = {{"pointer", launch.buffers[a.buffer].name}};
    }
    j["arguments"].push_back(std::move(item));
  }
  const std::string path = fs::path(folder) / "LAUNCH.json";
  files.plan(path, "the replay");
  files.write(path, strict_json::dumped(j, 2) + "\n");
  files.commit();
  return path;
}

}  // namespace bitwell::launch
