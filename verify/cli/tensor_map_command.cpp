// bitwell descriptor tensor-map
#include <fmt/format.h>

#include <exception>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>

#include "model/machine/failure.h"
#include "model/machine/tensor/tensor_map_bytes.h"
#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/launch/launch.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::table;
namespace {

using machine::TensorMap;
using machine::TensorMapBytes;

constexpr size_t kMapBytes = sizeof(TensorMapBytes);

template <class Values>
std::string list(const Values& values, size_t first, size_t end) {
  std::string out;
  for (size_t d = first; d < end; ++d) out += (d == first ? "" : ", ") + std::to_string(values[d]);
  return out;
}

// What the driver was given, by the names of its arguments.
std::vector<std::pair<std::string, std::string>> arguments_of(const TensorMap& m) {
  std::vector<std::pair<std::string, std::string>> out{
      {"mode", m.im2col.channels != 0 ? "im2col" : "tiles"},
      {"tensorDataType", m.type_name()},
      {"tensorRank", std::to_string(m.rank)},
      {"globalAddress", fmt::format("0x{:x}", m.address)},
      {"globalDim", list(m.dims, 0, m.rank)},
      {"globalStrides", list(m.strides, 1, m.rank)},
      {"elementStrides", list(m.element_strides, 0, m.rank)},
      {"interleave", std::string(machine::kTensorInterleaves[static_cast<size_t>(m.interleave)])},
      {"swizzle", std::string(machine::kTensorSwizzles[static_cast<size_t>(m.swizzle)].name)},
      {"l2Promotion", std::string(machine::kL2Promotions[static_cast<size_t>(m.promotion)].name)},
      {"oobFill", m.fill_nan ? "nan" : "zero"}};
  if (m.im2col.channels == 0) {
    out.insert(out.begin() + 6, {"boxDim", list(m.box, 0, m.rank)});
  } else {
    out.insert(out.begin() + 6, {{"pixelBoxLowerCorner", list(m.im2col.lower, 0, m.rank - 2)},
                                 {"pixelBoxUpperCorner", list(m.im2col.upper, 0, m.rank - 2)},
                                 {"channelsPerPixel", std::to_string(m.im2col.channels)},
                                 {"pixelsPerColumn", std::to_string(m.im2col.pixels)}});
  }
  return out;
}

// The fields of the map's mode as they stand in the bytes.
std::vector<std::vector<std::string>> bit_rows(std::span<const std::byte, kMapBytes> bytes, bool im2col) {
  std::vector<std::vector<std::string>> rows;
  for (const machine::TensorMapBitsRow& row : machine::kTensorMapBits) {
    if (row.mode == (im2col ? machine::TensorMapMode::tile : machine::TensorMapMode::im2col)) continue;
    for (uint32_t i = 0; i < row.bits.count; ++i) {
      const uint32_t first = row.bits.first + i * row.bits.step;
      rows.push_back({std::string(row.bits.name) + (row.bits.count == 1 ? "" : fmt::format(" {}", i)),
                      fmt::format("{}-{}", first, first + row.bits.width - 1),
                      fmt::format("0x{:x}", machine::bits_in(bytes, row.bits, i)),
                      std::string(row.bits.holds)});
    }
  }
  return rows;
}

void show(const std::string& path, bool json) {
  const std::string content = launch::read_file(path);
  if (content.size() != kMapBytes)
    throw machine::InputError("'" + path + "' has " + std::to_string(content.size()) +
                              " bytes, a tensor map has 128");
  const auto bytes = std::as_bytes(std::span(content)).first<kMapBytes>();
  const TensorMap m = launch::naming(path, [&] { return machine::decode_tensor_map(bytes); });
  std::exception_ptr refused;
  std::string why;
  try {
    machine::check(m);
    machine::require_modelled(m);
  } catch (const std::exception& e) {
    refused = std::current_exception();
    why = e.what();
  }
  const auto arguments = arguments_of(m);
  if (json) {
    nlohmann::json j{{"file", path}, {"legal", why.empty()}, {"why", why}};
    for (const auto& [name, value] : arguments) j["arguments"][name] = value;
    fmt::print("{}\n", strict_json::dumped(j, 2));
  } else {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [name, value] : arguments) rows.push_back({name, value});
    fmt::print("{}\n{}", table({{"argument"}, {"value"}}, rows),
               table({{"field"}, {"bits", true}, {"value", true}, {"what of the argument"}},
                     bit_rows(bytes, m.im2col.channels != 0)));
    if (why.empty()) fmt::print("\n{}: legal\n", path);
  }
  if (refused) std::rethrow_exception(refused);
}

}  // namespace

void add_tensor_map(CLI::App& descriptor) {
  const auto path = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  CLI::App* one = descriptor.add_subcommand("tensor-map", "The 128 bytes of a CUtensorMap");
  one->add_option("FILE", *path, "The bytes, as cuTensorMapEncodeTiled or Im2col wrote them")->required();
  one->add_flag("--json", *json, "The arguments as JSON");
  one->footer(
      "What the driver was given, and where it stands in the bytes (as an H200's driver, 580.159.04, writes\n"
      "them; a bit that no field has is refused). Numbers are the innermost dimension's first.\n\n"
      "Example:  bitwell descriptor tensor-map a.map");
  one->callback([path, json] { show(*path, *json); });
}

}  // namespace bitwell::cli
