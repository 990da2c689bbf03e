// What goes out of a launch: its buffers after a run, and the launch itself as LAUNCH.json.
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "model/machine/failure.h"
#include "verify/launch_json.h"
#include "verify/npy.h"

namespace bitwell::verify {
namespace {

using machine::InputError;
using nlohmann::json;
namespace fs = std::filesystem;

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!out.flush()) throw InputError("cannot write '" + path.string() + "'");
}

std::string bytes_text(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

json buffer_json(const Buffer& b, const std::string& folder) {
  json item{{"buffer", b.name}};
  if (b.bytes.empty() && b.blank != 0) {
    item[b.defined ? "zeros" : "unwritten"] = b.blank;
  } else if (b.defined) {
    item["bin"] = b.name + ".bin";
    write_file(fs::path(folder) / (b.name + ".bin"), bytes_text(b.bytes));
  } else {
    item["unwritten"] = b.bytes.size();
  }
  if (b.read_only) item["read_only"] = true;
  if (b.output) item["output"] = b.name + ".npy";
  return item;
}

json tensor_map_json(const machine::TensorMap& m, const std::string& buffer) {
  const auto list = [&](const auto& values, size_t first) {
    json out = json::array();
    for (size_t d = first; d < m.rank; ++d) out.push_back(values[d]);
    return out;
  };
  json item{{"tensor_map", buffer},
            {"offset", m.address},
            {"type", machine::kTensorTypes[static_cast<size_t>(m.type)].name},
            {"dims", list(m.dims, 0)},
            {"box", list(m.box, 0)},
            {"element_strides", list(m.element_strides, 0)},
            {"swizzle", machine::kTensorSwizzles[static_cast<size_t>(m.swizzle)].name},
            {"fill", m.fill_nan ? "nan" : "zero"}};
  if (m.rank > 1) item["strides"] = list(m.strides, 1);
  return item;
}

}  // namespace

void write_outputs(const LaunchFile& file) {
  std::vector<std::pair<fs::path, fs::path>> renames;
  const auto clean_up = [&] {
    std::error_code ignored;
    for (const auto& [partial, path] : renames) fs::remove(partial, ignored);
  };
  try {
    for (const auto& [at, output] : file.outputs) {
      const std::vector<std::byte>& bytes = file.launch.buffers[at].bytes;
      const fs::path path = output.path;
      const fs::path partial = path.string() + ".partial-" + std::to_string(getpid());
      renames.emplace_back(partial, path);
      write_file(partial, path.extension() == ".npy" ? npy_text({output.dtype, output.shape, bytes})
                                                     : bytes_text(bytes));
    }
  } catch (...) {
    clean_up();
    throw;
  }
  for (const auto& [partial, path] : renames) {
    std::error_code error;
    fs::rename(partial, path, error);
    if (!error) continue;
    clean_up();
    throw InputError("cannot write '" + path.string() + "': " + error.message());
  }
}

std::string write_launch(const Launch& launch, const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw InputError("cannot make the folder '" + folder + "': " + error.message());
  json j;
  j["ptx"] = fs::absolute(launch.ptx).string();
  j["entry"] = launch.entry;
  j["grid"] = launch.shape.grid;
  j["block"] = launch.shape.block;
  j["cluster"] = launch.shape.cluster;
  j["dynamic_shared_bytes"] = launch.shape.dynamic_shared;
  // A buffer stands where its address is first passed, unless something leads to it before that.
  std::set<size_t> known;
  std::set<size_t> passed;
  for (const Argument& a : launch.arguments)
    if (a.scalar.empty() && known.insert(a.buffer).second && !a.tensor_map) passed.insert(a.buffer);
  for (size_t i = 0; i < launch.buffers.size(); ++i)
    if (passed.count(i) == 0) j["buffers"].push_back(buffer_json(launch.buffers[i], folder));
  j["arguments"] = json::array();
  for (const Argument& a : launch.arguments) {
    json item;
    if (!a.scalar.empty()) {
      uint64_t value = 0;
      std::memcpy(&value, a.scalar.data(), a.scalar.size());
      item = {{"type", "b" + std::to_string(8 * a.scalar.size())}, {"value", value}};
    } else if (a.tensor_map) {
      item = tensor_map_json(*a.tensor_map, launch.buffers[a.buffer].name);
    } else if (passed.erase(a.buffer) != 0) {
      item = buffer_json(launch.buffers[a.buffer], folder);
    } else {
      item = {{"pointer", launch.buffers[a.buffer].name}};
    }
    j["arguments"].push_back(std::move(item));
  }
  const fs::path path = fs::path(folder) / "LAUNCH.json";
  write_file(path, j.dump(2) + "\n");
  return path.string();
}

}  // namespace bitwell::verify
