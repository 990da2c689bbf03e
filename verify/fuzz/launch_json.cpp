// Any text as LAUNCH.json -> a launch whose tensor maps can be encoded, or InputError.
#include "verify/launch/file/launch_json.h"

#include <nlohmann/json.hpp>

#include "model/machine/tensor/tensor_map_bytes.h"
#include "verify/fuzz/outcome.h"
#include "verify/fuzz/scratch.h"
#include "verify/launch/file/npy.h"

namespace {

namespace machine = bitwell::machine;
namespace fuzz = bitwell::fuzz;
namespace launch = bitwell::launch;
using nlohmann::json;

constexpr uint64_t kMost = uint64_t{1} << 22;  // bytes of a buffer
constexpr int kDeepest = 100;

// Whether the text nests too deep, or asks for buffers that are large because it says so.
bool too_much(const std::string& text) {
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (depth > kDeepest) return true;
  }
  const json all = json::parse(text, nullptr, false, true);
  const auto large = [](const json& buffer) {
    if (!buffer.is_object()) return false;
    const auto above = [](const json& j, const char* key) {
      return j.is_object() && j.contains(key) && j.at(key).is_number_unsigned() && j.at(key) > kMost;
    };
    return above(buffer, "zeros") || above(buffer, "unwritten") ||
           (buffer.contains("generate") && above(buffer.at("generate"), "bytes"));
  };
  if (!all.is_object()) return false;
  for (const char* key : {"buffers", "arguments", "variables"})
    if (all.contains(key))
      for (const json& item : all.at(key))
        if (large(item)) return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bitwell::fuzz::Scratch scratch;
  static const std::string beside =
      scratch.put("x.npy", launch::npy_text({"f4", {4, 2}, std::vector<std::byte>(32)}));
  static const std::string bytes = scratch.put("x.bin", std::string(64, '\0'));
  const std::string text = bitwell::fuzz::text_of(data, size);
  if (too_much(text)) return 0;
  const std::string path = scratch.put("l.json", text);
  bitwell::fuzz::outcome<machine::InputError, machine::Unsupported>([&] {
    const launch::LaunchFile file = launch::read_launch(path);
    for (const launch::Argument& a : file.launch.arguments) {
      bitwell::fuzz::require(!a.scalar.empty() || a.buffer < file.launch.buffers.size(),
                             "an argument names a buffer that is there");
      if (!a.tensor_map) continue;
      const machine::TensorMapBytes bytes = machine::encode(*a.tensor_map);
      bitwell::fuzz::require(machine::encode(machine::decode_tensor_map(bytes)) == bytes,
                             "a tensor map survives its encoding");
    }
  });
  return 0;
}
