// tex, suld and sust on arrays of one to three dimensions, as nvcc compiles them. What they should give:
// indices into the array, by the CUDA programming guide's rules for unnormalized coordinates and the nearest
// texel.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

#include "../../kernel.h"
#include "../../uses_against.h"
#include "verify/capture/captures.h"
#include "verify/launch/file/launch_json.h"

namespace bitwell::isa {
namespace {

const std::string& textures_ptx() {
  static const std::string path = capture::share_folder("test") + "/textures.ptx";
  return path;
}

template <class T>
std::vector<std::byte> bytes(const std::vector<T>& from) {
  std::vector<std::byte> out(from.size() * sizeof(T));
  std::memcpy(out.data(), from.data(), out.size());
  return out;
}
template <class T>
std::vector<T> values(const launch::Buffer& from) {
  std::vector<T> out(from.bytes.size() / sizeof(T));
  std::memcpy(out.data(), from.bytes.data(), from.bytes.size());
  return out;
}

// A launch of one CTA of as many threads as there are coordinates.
struct Fetch {
  launch::Launch l;
  explicit Fetch(const std::string& entry, size_t threads) {
    l.ptx = textures_ptx();
    l.entry = entry;
    l.shape.block = {static_cast<uint32_t>(threads), 1, 1};
  }
  template <class T>
  void image(machine::Texture t, const std::vector<T>& texels) {
    l.buffers.push_back({t.name, bytes(texels), true, false, true});
    launch::Pointer handle{0, l.buffers.size() - 1, 0};
    handle.texture = std::move(t);
    l.arguments.push_back({std::vector<std::byte>(8), 0, {}, {handle}});
  }
  template <class T>
  void buffer(const std::vector<T>& from) {
    l.add_buffer({"b" + std::to_string(l.buffers.size()), bytes(from), true, false, true});
  }
  // Empty, or why it does not hold: it has to touch what the uses of its instructions say, and all of that.
  std::string run() {
    static launch::Modules files;
    try {
      files.load(l);
      const std::shared_ptr<const Program> program = l.module->program(l.entry);
      test::UsesAgainst against(*program);
      run::Options options;
      options.observers.push_back(against.observer());
      test::run_launch(l, options, true);
      return against.wrong() + against.unseen();
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  }
};

machine::Channel channel(const std::string& name) {
  for (const machine::Channel& c : machine::kChannels)
    if (c.name == name) return c;
  throw machine::ModelBug("no channel " + name);
}
machine::Texture texture(const std::string& format, uint32_t channels, std::vector<uint64_t> size,
                         uint64_t layers = 0) {
  machine::Texture t;
  t.name = "t";
  t.channel = channel(format);
  t.channels = channels;
  t.dimensions = static_cast<uint32_t>(size.size());
  for (size_t i = 0; i < size.size(); ++i) t.size[i] = size[i];
  t.layers = layers;
  return t;
}
machine::Texture surface(machine::Texture t, const std::string& name) {
  t.surface = true;
  t.name = name;
  return t;
}

// Coordinates in and around an array of `size`, on the edges of texels among them.
std::vector<float> places(size_t count, uint32_t size) {
  return *rc::gen::container<std::vector<float>>(
      count, rc::gen::oneOf(
                 rc::gen::map(rc::gen::inRange<int>(-8, static_cast<int>(4 * size) + 8),
                              [](int quarter) { return static_cast<float>(quarter) / 4; }),
                 rc::gen::element(-0.0f, 0.0f, -1e30f, 1e30f, -INFINITY, INFINITY, 0x1p-149f, -0x1p-149f,
                                  static_cast<float>(size), std::nextafter(static_cast<float>(size), 0.0f))));
}
size_t clamped(float at, uint32_t size) {
  const double floor = std::floor(static_cast<double>(at));
  return floor < 0 ? 0 : floor >= size ? size - 1 : static_cast<size_t>(floor);
}

template <class T>
std::vector<T> random_values(size_t count) {
  return *rc::gen::container<std::vector<T>>(count, rc::gen::arbitrary<T>());
}

// The nearest texel of a coordinate is floor of it, clamped.
RC_GTEST_PROP(Textures, FourChannelsOfTwoDimensions, ()) {
  const auto w = *rc::gen::inRange<uint32_t>(1, 9);
  const auto h = *rc::gen::inRange<uint32_t>(1, 9);
  const auto texels = random_values<float>(size_t{4} * w * h);
  const auto x = places(16, w);
  const auto y = places(16, h);
  Fetch f("tex_2d", 16);
  f.image(texture("f32", 4, {w, h}), texels);
  f.buffer(x);
  f.buffer(y);
  f.buffer(std::vector<float>(64));
  RC_ASSERT(f.run() == "");
  const auto out = values<uint32_t>(f.l.buffers.back());
  const auto in = values<uint32_t>(f.l.buffers.front());
  for (size_t i = 0; i < 16; ++i)
    for (size_t c = 0; c < 4; ++c)
      RC_ASSERT(out[4 * i + c] == in[4 * (clamped(y[i], h) * w + clamped(x[i], w)) + c]);
}

// Small whole numbers are widened by their sign; x runs fastest, then y, then z.
RC_GTEST_PROP(Textures, WholeNumbersOfThreeDimensions, ()) {
  const std::vector<uint32_t> size{*rc::gen::inRange<uint32_t>(1, 6), *rc::gen::inRange<uint32_t>(1, 6),
                                   *rc::gen::inRange<uint32_t>(1, 6)};
  const auto texels = random_values<uint16_t>(size_t{size[0]} * size[1] * size[2]);
  Fetch f("tex_3d", 16);
  f.image(texture("u16", 1, {size[0], size[1], size[2]}), texels);
  std::vector<std::vector<float>> at;
  for (const uint32_t n : size) f.buffer(at.emplace_back(places(16, n)));
  f.buffer(std::vector<uint16_t>(16));
  RC_ASSERT(f.run() == "");
  const auto out = values<uint16_t>(f.l.buffers.back());
  for (size_t i = 0; i < 16; ++i)
    RC_ASSERT(out[i] == texels[(clamped(at[2][i], size[2]) * size[1] + clamped(at[1][i], size[1])) * size[0] +
                               clamped(at[0][i], size[0])]);
}

TEST(Textures, SignedBytesAreExtended) {
  Fetch f("tex_2d_byte", 4);
  f.image(texture("s8", 1, {2, 2}), std::vector<int8_t>{-128, -1, 0, 127});
  f.buffer(std::vector<float>{0, 1, 0, 1});
  f.buffer(std::vector<float>{0, 0, 1, 1});
  f.buffer(std::vector<int>(4));
  EXPECT_EQ(f.run(), "");
  EXPECT_EQ(values<int>(f.l.buffers.back()), (std::vector<int>{-128, -1, 0, 127}));
}

// Half precision is read as single, exactly: 1.5, the least subnormal, -65504, infinity.
TEST(Textures, HalfPrecisionIsWidened) {
  Fetch f("tex_1d", 4);
  f.image(texture("f16", 1, {4}), std::vector<uint16_t>{0x3E00, 0x0001, 0xFBFF, 0x7C00});
  f.buffer(std::vector<float>{0.5f, 1.5f, 2.5f, 3.5f});
  f.buffer(std::vector<float>(4));
  EXPECT_EQ(f.run(), "");
  EXPECT_EQ(values<float>(f.l.buffers.back()), (std::vector<float>{1.5f, 0x1p-24f, -65504.0f, INFINITY}));
}

// Outside an array with a border there are zeros.
TEST(Textures, ABorderReadsZero) {
  Fetch f("tex_1d", 6);
  machine::Texture t = texture("f32", 1, {3});
  t.boundary.fill(machine::Boundary::border);
  f.image(t, std::vector<float>{4, 5, 6});
  f.buffer(std::vector<float>{-0.5f, -0.0f, 1.0f, 2.9f, 3.0f, 1e30f});
  f.buffer(std::vector<float>(6, 9.0f));
  EXPECT_EQ(f.run(), "");
  EXPECT_EQ(values<float>(f.l.buffers.back()), (std::vector<float>{0, 4, 5, 6, 0, 0}));
}

TEST(Textures, LayersAreArraysOfTheirOwn) {
  constexpr size_t kLayers = 3;
  Fetch f("tex_layers", 6);
  std::vector<int> one(kLayers * 4);
  std::vector<int> two(kLayers * 4 * 2);
  for (size_t i = 0; i < one.size(); ++i) one[i] = static_cast<int>(i);
  for (size_t i = 0; i < two.size(); ++i) two[i] = static_cast<int>(i);
  f.image(texture("s32", 1, {4}, kLayers), one);
  f.image(texture("s32", 1, {4, 2}, kLayers), two);
  f.buffer(std::vector<float>{0, 1, 2, 3, 0, 3});
  f.buffer(std::vector<float>{0, 0, 1, 1, 1, 0});
  f.buffer(std::vector<int>{0, 1, 2, 0, 2, 1});
  f.buffer(std::vector<int>(6));
  EXPECT_EQ(f.run(), "");
  EXPECT_EQ(values<int>(f.l.buffers.back()), (std::vector<int>{0, 9005, 22010, 7003, 20008, 11007}));
}

TEST(Textures, FetchOfAWholeCoordinate) {
  Fetch f("tex_1d_fetch", 3);
  f.image(texture("f32", 1, {3}), std::vector<float>{4, 5, 6});
  f.buffer(std::vector<int>{2, 0, 1});
  f.buffer(std::vector<float>(3));
  EXPECT_EQ(f.run(), "");
  EXPECT_EQ(values<float>(f.l.buffers.back()), (std::vector<float>{6, 4, 5}));
}

// What nobody has measured is refused by name, and mistakes are named.
TEST(Textures, WhatIsNotKnownIsRefused) {
  const auto says = [](const std::function<void(machine::Texture&)>& change, float x = 0.0f,
                       const std::string& entry = "tex_1d") {
    Fetch f(entry, 1);
    machine::Texture t = texture("f32", 1, {3});
    change(t);
    f.image(t, std::vector<float>(16));
    f.buffer(std::vector<float>{x});
    f.buffer(std::vector<float>(1));
    return f.run();
  };
  using T = machine::Texture;
  const auto has = [](const std::string& said, const std::string& part) {
    EXPECT_NE(said.find(part), std::string::npos) << said;
  };
  has(says([](T& t) { t.linear = true; }),
      "tex of 't': linear filtering, whose weights nobody has measured; \"filter\": \"nearest\" runs");
  has(says([](T& t) { t.normalized_coordinates = true; }),
      "tex of 't': normalized coordinates, whose rounding nobody has measured; unnormalized ones run");
  has(says([](T& t) { t.normalized_values = true; }), "tex of 't': whole numbers read as fractions");
  has(says([](T& t) { t.channel = channel("u8"); }), "tex of 't': texels of u8 read as .f32");
  has(says([](T&) {}, NAN), "a coordinate that is no number");
  has(says([](T& t) { t.dimensions = 2; }),
      "'t' is an array of 2 dimensions, this instruction is for an array of 1");
  has(says([](T& t) { t.surface = true; }), "'t' is passed as a surface");
  has(says([](T&) {}, 0.0f, "tex_second"), "never written");  // a channel that the array does not have
}

TEST(Textures, TheHandleIsOneOfTheLaunchs) {
  Fetch f("tex_1d", 1);
  f.l.add_scalar(uint64_t{1234});
  f.buffer(std::vector<float>(1));
  f.buffer(std::vector<float>(1));
  EXPECT_NE(f.run().find("the handle 1234 names no texture or surface"), std::string::npos) << f.run();
}

// Surfaces count bytes along a row.
TEST(Surfaces, CopyByBytesAndRows) {
  Fetch f("surf_copy_2d", 6);
  const std::vector<int> texels{1, 2, 3, 4, 5, 6};
  f.image(surface(texture("s32", 1, {3, 2}), "from"), texels);
  f.image(surface(texture("u8", 4, {3, 2}), "to"), std::vector<int>(6));
  f.buffer(std::vector<int>{0, 4, 8, 0, 4, 8});
  f.buffer(std::vector<int>{0, 0, 0, 1, 1, 1});
  EXPECT_EQ(f.run(), "");
  EXPECT_EQ(values<int>(f.l.buffers[1]), (std::vector<int>{2, 3, 4, 5, 6, 7}));
}

// .zero reads zeros outside and writes nothing; .clamp reads the nearest; .trap faults.
TEST(Surfaces, OutsideTheArray) {
  const std::vector<int> x{-4, 0, 8, 12, 4, 4};
  const std::vector<int> y{0, -1, 2, 1, 1, 0};
  const std::vector<int> texels{1, 2, 3, 4, 5, 6};
  Fetch zero("surf_zero_2d", 6);
  zero.image(surface(texture("s32", 1, {3, 2}), "from"), texels);
  zero.image(surface(texture("s32", 1, {3, 2}), "to"), std::vector<int>(6));
  zero.buffer(x);
  zero.buffer(y);
  zero.buffer(std::vector<int>(6, 9));
  EXPECT_EQ(zero.run(), "");
  EXPECT_EQ(values<int>(zero.l.buffers.back()), (std::vector<int>{0, 0, 0, 0, 5, 2}));
  EXPECT_EQ(values<int>(zero.l.buffers[1]), (std::vector<int>{0, 7, 0, 0, 7, 0}));
  Fetch clamp("surf_clamp_2d", 6);
  clamp.image(surface(texture("s32", 1, {3, 2}), "from"), texels);
  clamp.buffer(x);
  clamp.buffer(y);
  clamp.buffer(std::vector<int>(6));
  EXPECT_EQ(clamp.run(), "");
  EXPECT_EQ(values<int>(clamp.l.buffers.back()), (std::vector<int>{1, 1, 6, 6, 5, 2}));
  const auto trap = [&](int at, int row) {
    Fetch f("surf_copy_2d", 1);
    f.image(surface(texture("s32", 1, {3, 2}), "from"), texels);
    f.image(surface(texture("s32", 1, {3, 2}), "to"), std::vector<int>(6));
    f.buffer(std::vector<int>{at});
    f.buffer(std::vector<int>{row});
    return f.run();
  };
  EXPECT_NE(trap(12, 0).find("suld outside 'from': byte 12 of 12"), std::string::npos) << trap(12, 0);
  EXPECT_NE(trap(0, 2).find("suld outside 'from': row or slice 2 of 2"), std::string::npos) << trap(0, 2);
  EXPECT_NE(trap(2, 0).find("misaligned suld of 4 bytes at byte 2"), std::string::npos) << trap(2, 0);
}

TEST(Surfaces, ThreeDimensionsAndLayers) {
  Fetch f("surf_3d", 8);
  std::vector<uint32_t> texels{10, 11, 12, 13, 14, 15, 16, 17};
  f.image(surface(texture("u16", 2, {2, 2, 2}), "from"), texels);
  f.image(surface(texture("u16", 2, {2, 2, 2}), "to"), std::vector<uint32_t>(8));
  f.buffer(std::vector<int>{0, 4, 0, 4, 0, 4, 0, 4});
  f.buffer(std::vector<int>{0, 0, 1, 1, 0, 0, 1, 1});
  f.buffer(std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1});
  EXPECT_EQ(f.run(), "");
  EXPECT_EQ(values<uint32_t>(f.l.buffers[1]), texels);
  Fetch layers("surf_layers", 3);
  layers.image(surface(texture("u8", 1, {3}, 2), "from"), std::vector<uint8_t>{1, 2, 3, 4, 5, 6});
  layers.image(surface(texture("u8", 1, {3, 2}, 2), "to"), std::vector<uint8_t>(12));
  layers.buffer(std::vector<int>{0, 1, 2});
  layers.buffer(std::vector<int>{0, 1, 1});
  layers.buffer(std::vector<int>{0, 1, 1});
  EXPECT_EQ(layers.run(), "");
  EXPECT_EQ(values<uint8_t>(layers.l.buffers[1]), (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 6}));
}

// How LAUNCH.json says it.
TEST(Textures, OfALaunchFile) {
  const auto read = [](const std::string& textures) {
    const std::string path = testing::TempDir() + "/texture.json";
    std::ofstream(path)
        << R"({"ptx": ")" << textures_ptx()
        << R"(", "entry": "tex_1d", "grid": [1], "block": [1], "buffers": [{"buffer": "p", "zeros": 48}], "textures": [)"
        << textures << R"(], "arguments": [{"texture": "t"}]})";
    try {
      const launch::LaunchFile file = launch::read_launch(path);
      return std::to_string(file.launch.arguments[0].pointers[0].texture->bytes());
    } catch (const machine::InputError& e) {
      return std::string(e.what());
    }
  };
  const std::string t = R"({"texture": "t", "over": "p", "format": "f32", "width": 3)";
  EXPECT_EQ(read(t + "}"), "12");
  EXPECT_EQ(read(t + R"(, "height": 2, "layers": 2, "address": "border", "filter": "linear"})"), "48");
  const auto refused = [&](const std::string& more, const std::string& why) {
    EXPECT_NE(read(t + more).find(why), std::string::npos) << read(t + more);
  };
  refused(R"(, "height": 5})", "'t' has 60 bytes, 'p' has 48");
  refused(R"(, "channels": 3})", "'channels' is 3");
  refused(R"(, "depth": 2})", "a 'depth' and no 'height'");
  refused(R"(, "address": "edge"})", "address 'edge' is not one of wrap, clamp, mirror, border");
  refused(R"(}, {"texture": "t", "over": "p", "format": "f32", "width": 3})", "another texture 't'");
}

}  // namespace
}  // namespace bitwell::isa
