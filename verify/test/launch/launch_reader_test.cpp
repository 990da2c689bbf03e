// Every key of LAUNCH.json comes to its place in a Launch, with its default where it is left out; and what a
// key cannot be is refused by the file, the object and the key. The bytes are written down here by hand.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "verify/launch/file/launch_json.h"

namespace bitwell::launch {
namespace {

namespace fs = std::filesystem;

template <class... T>
std::vector<std::byte> bytes(T... values) {
  return {static_cast<std::byte>(values)...};
}

class LaunchReaderTest : public testing::Test {
 protected:
  LaunchReaderTest() {
    fs::create_directories(folder_);
    write("k.ptx", ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }\n");
    write("four.bin", std::string("\1\2\3\4", 4));
    // 2 x 2 of f4: 1, 2, 3, 4.
    std::string npy("\x93NUMPY\1\0\x76\0", 10);
    npy += std::string("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }") + std::string(58, ' ') +
           "\n";
    for (const uint32_t word : {0x3f800000u, 0x40000000u, 0x40400000u, 0x40800000u})
      npy.append(reinterpret_cast<const char*>(&word), 4);
    write("four.npy", npy);
  }
  ~LaunchReaderTest() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  // The launch of an entry k with these keys.
  LaunchFile read(const std::string& more) const {
    write("l.json", R"({"ptx": "k.ptx", "entry": "k")" + (more.empty() ? "" : ", " + more) + "}");
    return read_launch((folder_ / "l.json").string());
  }
  Buffer buffer(const std::string& keys) const {
    return read(R"("arguments": [{"buffer": "x", )" + keys + "}]").launch.buffers.at(0);
  }
  Argument argument(const std::string& object) const {
    return read(R"("buffers": [{"buffer": "x", "zeros": 8192}], "arguments": [)" + object + "]")
        .launch.arguments.at(0);
  }
  void refused(const std::string& more, const std::string& why) const {
    try {
      read(more);
      ADD_FAILURE() << "is taken: " << more;
    } catch (const machine::InputError& e) {
      const std::string said = e.what();
      EXPECT_NE(said.find("l.json'"), std::string::npos) << said;
      EXPECT_NE(said.find(why), std::string::npos) << said << "\nnot: " << why;
    }
  }
  void refused_buffer(const std::string& keys, const std::string& why) const {
    refused(R"("arguments": [{"buffer": "x", )" + keys + "}]", why);
  }

  const fs::path folder_ = fs::temp_directory_path() / ("launch_reader_" + std::to_string(::getpid()));
};

TEST_F(LaunchReaderTest, ShapesHaveDefaults) {
  const Launch launch = read("").launch;
  EXPECT_EQ(launch.ptx, (folder_ / "k.ptx").string());
  EXPECT_EQ(launch.entry, "k");
  EXPECT_EQ(launch.shape.grid, (std::array<uint32_t, 3>{1, 1, 1}));
  EXPECT_EQ(launch.shape.block, (std::array<uint32_t, 3>{1, 1, 1}));
  EXPECT_FALSE(launch.shape.explicit_cluster);
  EXPECT_EQ(launch.shape.dynamic_shared, 0u);
  EXPECT_FALSE(launch.shape.cooperative);
  EXPECT_FALSE(launch.heap.has_value());
  EXPECT_TRUE(launch.buffers.empty() && launch.arguments.empty() && launch.variables.empty() &&
              launch.then.empty());
}

TEST_F(LaunchReaderTest, ShapesAreOneToThreeNumbers) {
  const Launch launch = read(R"("grid": [4, 3], "block": 32, "cluster": [2, 1, 1], "dynamic_shared_bytes": 16,
                                "registers": 40, "cooperative": true, "heap": 65536)")
                            .launch;
  EXPECT_EQ(launch.shape.grid, (std::array<uint32_t, 3>{4, 3, 1}));
  EXPECT_EQ(launch.shape.block, (std::array<uint32_t, 3>{32, 1, 1}));
  EXPECT_EQ(launch.shape.cluster, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_TRUE(launch.shape.explicit_cluster && launch.shape.cooperative);
  EXPECT_EQ(launch.shape.dynamic_shared, 16u);
  EXPECT_EQ(launch.shape.registers, 40u);
  EXPECT_EQ(launch.heap, 65536u);
}

TEST_F(LaunchReaderTest, ShapesThatAreNoneAreRefused) {
  for (const char* grid : {"[]", "[1, 1, 1, 1]", "-1", "1.5", "[1, \"2\"]", "4294967296", "true"})
    refused(R"("grid": )" + std::string(grid), "'grid'");
  refused(R"("grid": null)", "1 value is still to be filled in, where null stands: at /grid");
  refused(R"("cooperative": 1)", "'cooperative' holds 1, it must be true or false");
  refused(R"("dynamic_shared_bytes": 4294967296)", "'dynamic_shared_bytes'");
  refused(R"("heap": 70368744177664)", "'heap'");
  refused(R"("gird": 1)", "unknown field 'gird' in the launch; did you mean 'grid'?");
  refused(R"("arguments": {})", "'arguments' holds {}, it must be a list");
}

TEST_F(LaunchReaderTest, BuffersHaveContentsOfOneSource) {
  EXPECT_EQ(buffer(R"("bin": "four.bin")").bytes, bytes(1, 2, 3, 4));
  EXPECT_EQ(buffer(R"("npy": "four.npy")").bytes,
            bytes(0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40));
  EXPECT_EQ(buffer(R"("generate": {"kind": "iota_u32", "bytes": 8})").bytes, bytes(0, 0, 0, 0, 1, 0, 0, 0));
  const Buffer zeros = buffer(R"("zeros": 1000)"), unwritten = buffer(R"("unwritten": 1000)");
  EXPECT_EQ(zeros.size(), 1000u);
  EXPECT_EQ(unwritten.size(), 1000u);
  EXPECT_TRUE(zeros.defined);
  EXPECT_FALSE(unwritten.defined);
  refused_buffer("\"read_only\": true", "needs exactly one of");
  refused_buffer(R"("zeros": 4, "unwritten": 4)", "needs exactly one of");
  refused_buffer(R"("npy": "four.bin")", "is not an .npy file");
  refused_buffer(R"("bin": "absent")", "cannot read");
  refused_buffer(R"("generate": {"kind": "iota", "bytes": 8})",
                 "kind 'iota' is not one of uniform_bits, iota_u32, uniform_f32");
}

TEST_F(LaunchReaderTest, ValuesBecomeTheirFormat) {
  EXPECT_EQ(buffer(R"("values": [0.5, -6], "format": "e2m1")").bytes, bytes(0xf1));  // codes 1 and 15
  EXPECT_EQ(buffer(R"("values": [1, -2], "format": "f16")").bytes, bytes(0, 0x3c, 0, 0xc0));
  EXPECT_EQ(buffer(R"("values": [1], "format": "bf16")").bytes, bytes(0x80, 0x3f));
  EXPECT_EQ(buffer(R"("values": [448, 1], "format": "e4m3")").bytes, bytes(0x7e, 0x38));
  refused_buffer(R"("values": [1, 2, 3], "format": "e2m1")", "3 elements of e2m1 fill no whole bytes");
  refused_buffer(R"("values": [1], "format": "fp16")", "format 'fp16' is not one of e2m1");
  refused_buffer(R"("values": 1, "format": "f32")", "'values' holds 1, it must be a list of numbers");
}

TEST_F(LaunchReaderTest, BuffersAreReadOnlyOutputsAndPlaced) {
  EXPECT_FALSE(buffer(R"("zeros": 4)").read_only);
  EXPECT_TRUE(buffer(R"("zeros": 4, "read_only": true)").read_only);
  EXPECT_FALSE(buffer(R"("zeros": 4)").output);
  EXPECT_TRUE(buffer(R"("zeros": 4, "output": "x.bin")").output);
  EXPECT_EQ(buffer(R"("zeros": 4, "address": 35184372088832)").address, 35184372088832u);
  const LaunchFile file =
      read(R"("arguments": [{"buffer": "x", "zeros": 16, "output": "x.npy", "dtype": "f4", "shape": [2, 2],
                                  "expected": "four.npy", "tolerance": {"rtol": 0.5, "atol": 0.25, "nan": "any"}}])");
  const Output& output = file.outputs.at(0);
  EXPECT_EQ(output.path, (folder_ / "x.npy").string());
  EXPECT_EQ(output.dtype, "f4");
  EXPECT_EQ(output.shape, (std::vector<uint64_t>{2, 2}));
  ASSERT_TRUE(output.expected.has_value());
  EXPECT_EQ(output.expected->numbers, (std::vector<long double>{1, 2, 3, 4}));
  EXPECT_EQ(output.expected->tolerance.rtol, 0.5);
  EXPECT_EQ(output.expected->tolerance.atol, 0.25);
  EXPECT_FALSE(output.expected->tolerance.ulp.has_value() || output.expected->tolerance.nan_bits);
  refused_buffer(R"("zeros": 16, "dtype": "q4")", "dtype 'q4' is not one of b1, u1");
  refused_buffer(R"("zeros": 12, "dtype": "f4", "expected": "four.npy")", "has 4 elements, the output has 3");
  refused_buffer(R"("zeros": 16, "expected": "four.npy")",
                 "the output has 16: without \"dtype\" these are bytes, while those of the file are f4");
  refused_buffer(R"("zeros": 16, "dtype": "f4", "expected": "four.npy", "tolerance": {"ulp": 1, "rtol": 1})",
                 "ulp");
}

TEST_F(LaunchReaderTest, NumbersHaveTheirType) {
  EXPECT_EQ(argument(R"({"type": "u8", "value": 255})").scalar, bytes(255));
  EXPECT_EQ(argument(R"({"type": "s16", "value": -2})").scalar, bytes(0xfe, 0xff));
  EXPECT_EQ(argument(R"({"type": "b32", "value": 4294967295})").scalar, bytes(255, 255, 255, 255));
  EXPECT_EQ(argument(R"({"type": "f16", "value": 0.5})").scalar, bytes(0, 0x38));
  EXPECT_EQ(argument(R"({"type": "f64", "value": 1})").scalar, bytes(0, 0, 0, 0, 0, 0, 0xf0, 0x3f));
  EXPECT_EQ(argument(R"({"bytes": "0011fF"})").scalar, bytes(0, 0x11, 0xff));
  for (const auto& [type, value] : {std::pair{"u8", "256"},
                                    {"s8", "128"},
                                    {"s8", "-129"},
                                    {"u32", "-1"},
                                    {"u64", "18446744073709551616"},
                                    {"s32", "0.5"}})
    refused(R"("arguments": [{"type": ")" + std::string(type) + R"(", "value": )" + value + "}]",
            "argument 0");
  refused(R"("arguments": [{"type": "u24", "value": 1}])", "type 'u24' is not one of u8");
  refused(R"("arguments": [{"type": "u32", "value": "1"}])", "'value' holds \"1\", it must be a number");
  refused(R"("arguments": [{"bytes": "001"}])", "argument 0");
  refused(R"("arguments": [{"value": 1}])", "argument 0");
}

TEST_F(LaunchReaderTest, StructuresHoldPointersAndStructures) {
  const Argument made =
      argument(R"({"struct": [{"at": 8, "pointer": "x", "offset": 4}, {"at": 2, "type": "u16", "value": 258},
                                                {"at": 20, "struct": [{"at": 1, "bytes": "aa"}]}], "size": 24})");
  std::vector<std::byte> wanted(24);
  wanted[2] = std::byte{2};
  wanted[3] = std::byte{1};
  wanted[21] = std::byte{0xaa};
  EXPECT_EQ(made.scalar, wanted);
  ASSERT_EQ(made.pointers.size(), 1u);
  EXPECT_EQ(made.pointers[0].at, 8u);
  EXPECT_EQ(made.pointers[0].buffer, 0u);
  EXPECT_EQ(made.pointers[0].offset, 4u);
  const std::string before = R"("buffers": [{"buffer": "x", "zeros": 16}], "arguments": [{"struct": [)";
  refused(before + R"({"at": 0, "pointer": "y"}]}])", "no buffer 'y'");
  refused(before + R"({"at": 0, "pointer": "x"}, {"at": 7, "type": "u8", "value": 1}]}])",
          "argument 0, field 1: its byte");
  refused(before + R"({"at": 8, "pointer": "x"}], "size": 12}])", "are beyond the 12 that there are");
  refused(before + R"({"pointer": "x"}]}])", "at");
}

TEST_F(LaunchReaderTest, TensorMapsLieOverBuffers) {
  const Argument made =
      argument(R"({"tensor_map": "x", "type": "f16", "dims": [64, 8], "strides": [128], "box": [32, 4],
                                     "element_strides": [1, 2], "swizzle": "64b", "fill": "nan", "offset": 16})");
  const machine::TensorMap& map = made.pointers.at(0).tensor_map.value();
  EXPECT_EQ(map.type_name(), "f16");
  EXPECT_EQ(map.rank, 2u);
  EXPECT_EQ(map.address, 16u);
  EXPECT_EQ(map.dims, (std::array<uint64_t, 5>{64, 8, 1, 1, 1}));
  EXPECT_EQ(map.strides[1], 128u);
  EXPECT_EQ(map.box, (std::array<uint32_t, 5>{32, 4, 1, 1, 1}));
  EXPECT_EQ(map.element_strides, (std::array<uint32_t, 5>{1, 2, 1, 1, 1}));
  EXPECT_TRUE(map.fill_nan);
  const std::string before = R"("buffers": [{"buffer": "x", "zeros": 8192}], "arguments": [{"tensor_map": )";
  refused(before + R"("y", "type": "u8", "dims": [64], "box": [64]}])", "no buffer 'y'");
  refused(before + R"("x", "type": "u8", "dims": [64, 2], "box": [64, 2]}])", "has no 'strides'");
  refused(before + R"("x", "type": "u8", "dims": [64, 2], "strides": [60], "box": [64, 2]}])",
          "globalStrides[0] is 60");
  refused(before + R"("x", "type": "u9", "dims": [64], "box": [64]}])", "'u9' is not one of");
  refused(before + R"("x", "type": "u8", "dims": [64], "box": [64], "swizzle": "48b"}])",
          "'48b' is not one of none, 32b");
}

TEST_F(LaunchReaderTest, VariablesHaveValuesAndOutputs) {
  const LaunchFile file = read(
      R"("variables": [{"variable": "v", "values": [1], "format": "f16"}, {"variable": "w", "output": "w.npy", "dtype": "u4"}])");
  ASSERT_EQ(file.launch.variables.size(), 2u);
  EXPECT_EQ(file.launch.variables[0].before, bytes(0, 0x3c));
  EXPECT_FALSE(file.launch.variables[0].output);
  EXPECT_FALSE(file.launch.variables[1].before.has_value());
  EXPECT_TRUE(file.launch.variables[1].output);
  EXPECT_EQ(file.variable_outputs.at(1).dtype, "u4");
}

TEST_F(LaunchReaderTest, StepsFollow) {
  const std::string before =
      R"("buffers": [{"buffer": "a", "zeros": 16}, {"buffer": "b", "zeros": 8}], "then": [)";
  const Launch launch = read(before + R"({"entry": "k", "grid": 2, "programmatic_stream_serialization": true},
      {"copy": {"from": "a", "from_offset": 8, "to": "b", "to_offset": 4, "bytes": 4}},
      {"fill": {"buffer": "a", "offset": 4, "bytes": 8, "value": 255}}])")
                            .launch;
  ASSERT_EQ(launch.then.size(), 3u);
  EXPECT_EQ(launch.then[0].entry, "k");
  EXPECT_EQ(launch.then[0].shape.grid[0], 2u);
  EXPECT_TRUE(launch.then[0].programmatic);
  const Step::Copy& copy = launch.then[1].copy.value();
  EXPECT_EQ(std::tuple(copy.from, copy.to, copy.from_offset, copy.to_offset, copy.bytes),
            std::tuple(0u, 1u, 8u, 4u, 4u));
  const Step::Fill& fill = launch.then[2].fill.value();
  EXPECT_EQ(std::tuple(fill.buffer, fill.offset, fill.bytes, fill.value),
            std::tuple(0u, 4u, 8u, std::byte{255}));
  refused(before + R"({"copy": {"from": "a", "from_offset": 13, "to": "b", "bytes": 4}}])",
          "4 bytes at 13 of 'a', which has 16");
  refused(before + R"({"fill": {"buffer": "b", "offset": 8, "bytes": 1}}])",
          "1 bytes at 8 of 'b', which has 8");
  refused(before + R"({"fill": {"buffer": "b", "value": 256}}])", "'value'");
  refused(before + R"({"fill": {"buffer": "b"}}, {"entry": "k", "programmatic_stream_serialization": true}])",
          "then, step 1: 'programmatic_stream_serialization' is of a launch right behind another one");
  refused(before + "{}]", "then, step 0 needs one of copy, fill, entry");
}

TEST_F(LaunchReaderTest, TexturesLieOverBuffers) {
  const Launch launch = read(R"("buffers": [{"buffer": "x", "zeros": 64}], "textures": [
      {"texture": "t", "over": "x", "format": "u8", "channels": 4, "width": 4, "height": 2, "address": "wrap", "normalized_coordinates": true}],
      "arguments": [{"texture": "t"}, {"surface": "t"}])")
                            .launch;
  const machine::Texture& texture = launch.arguments.at(0).pointers.at(0).texture.value();
  EXPECT_EQ(texture.size, (std::array<uint64_t, 3>{4, 2, 1}));
  EXPECT_EQ(texture.channels, 4u);
  EXPECT_TRUE(texture.normalized_coordinates);
  EXPECT_FALSE(texture.surface);
  EXPECT_TRUE(launch.arguments.at(1).pointers.at(0).texture.value().surface);
  const std::string before =
      R"("buffers": [{"buffer": "x", "zeros": 64}], "textures": [{"texture": "t", "over": )";
  refused(before + R"("y", "format": "u8", "width": 4}])", "no buffer 'y'");
  refused(before + R"("x", "format": "u8", "width": 4, "address": "edge"}])",
          "address 'edge' is not one of wrap, clamp, mirror, border");
  refused(before + R"("x", "format": "u8", "width": 4, "channels": 3}])", "channels");
  refused(before + R"("x", "format": "u8", "width": 65}])", "texture 0");
}

}  // namespace
}  // namespace bitwell::launch
