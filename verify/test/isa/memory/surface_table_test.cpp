// suld and sust of every geometry, element, vector and mode, at and around each edge of the array, against
// the place that plain arithmetic gives (PTX ISA 9.0, 9.7.11.5 and 9.7.11.6).
#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>

#include "../../kernel.h"

namespace bitwell::isa {
namespace {

constexpr int64_t kRowBytes = 48, kHeight = 3, kDepth = 2;  // kDepth: slices, or layers

struct Geometry {
  const char* name;
  int dimensions;
  bool layered;
};
constexpr Geometry kGeometries[] = {
    {".1d", 1, false}, {".2d", 2, false}, {".3d", 3, false}, {".a1d", 1, true}, {".a2d", 2, true}};

machine::Texture array_of(const Geometry& g) {
  machine::Texture t;
  t.name = "a";
  for (const machine::Channel& c : machine::kChannels)
    if (c.name == "u32") t.channel = c;
  t.dimensions = static_cast<uint32_t>(g.dimensions);
  t.size[0] = kRowBytes / 4;
  if (g.dimensions > 1) t.size[1] = kHeight;
  if (g.dimensions > 2) t.size[2] = kDepth;
  t.layers = g.layered ? kDepth : 0;
  t.surface = true;
  return t;
}

using Place = std::array<int64_t, 4>;  // layer, x, y, z
// The first byte that is reached; none where nothing is.
std::optional<int64_t> reached(const Geometry& g, int64_t size, bool clamps, Place at) {
  const Place most{kDepth - 1, kRowBytes - size, g.dimensions > 1 ? kHeight - 1 : 0,
                   g.dimensions > 2 ? kDepth - 1 : 0};
  for (int i = 1; i <= g.dimensions; ++i) {
    if (at[i] < 0 || at[i] > most[i]) {
      if (!clamps) return std::nullopt;
      at[i] = at[i] < 0 ? 0 : most[i];
    }
  }
  const int64_t height = g.dimensions > 1 ? kHeight : 1, slice = g.dimensions > 2 ? at[3]
                                                                 : g.layered      ? at[0]
                                                                                  : 0;
  return (slice * height + (g.dimensions > 1 ? at[2] : 0)) * kRowBytes + at[1];
}

// At, around and far from each edge.
std::vector<Place> places(const Geometry& g, int64_t size) {
  std::vector<Place> out;
  for (const int64_t layer : g.layered ? std::vector<int64_t>{0, 1} : std::vector<int64_t>{0})
    for (const int64_t x :
         {int64_t{0}, size, kRowBytes - size, kRowBytes, -size, kRowBytes + 5 * size, -7 * size})
      for (const int64_t y : g.dimensions > 1 ? std::vector<int64_t>{1, 0, kHeight - 1, kHeight, -1, 100}
                                              : std::vector<int64_t>{0})
        for (const int64_t z :
             g.dimensions > 2 ? std::vector<int64_t>{0, kDepth - 1, kDepth, -1} : std::vector<int64_t>{0})
          out.push_back({layer, x, y, z});
  return out;
}

std::string coordinates(const Geometry& g) {
  std::string out = "{";
  if (g.layered) out += "%c0, ";
  for (int i = 1; i <= g.dimensions; ++i) out += (i == 1 ? "" : ", ") + ("%c" + std::to_string(i));
  if (g.dimensions + (g.layered ? 1 : 0) == 3) out += ", %c1";  // the fourth says nothing
  return out + "}";
}

struct Element {
  int bytes;
  const char* letter;  // of its registers
  int register_bytes;
};

// Lane i works at places[i], which are 32 at most; `in`: its words, 16 bytes a lane; `out`: those that it
// loads.
test::Left moved(const Geometry& g, const Element& e, int count, const std::string& mode, bool stores,
                 const std::vector<Place>& places) {
  const std::string bits = std::to_string(8 * e.bytes), wide = std::to_string(8 * e.register_bytes);
  std::string list, loads, stored;
  for (int i = 0; i < count; ++i) {
    const std::string r = e.letter + std::to_string(i), at = std::to_string(i * e.register_bytes);
    list += (i == 0 ? "" : ", ") + r;
    loads += "ld.global.b" + wide + " " + r + ", [%d1+" + at + "];\n";
    stored += "@%p0 st.global.b" + wide + " [%d3+" + at + "], " + r + ";\n";
  }
  if (count > 1) list = "{" + list + "}";
  const std::string form = std::string(".b") + g.name + (count == 1 ? "" : ".v" + std::to_string(count)) +
                           ".b" + bits + "." + mode + " ";
  test::Kernel k{
      .parameters = ".param .u64 pin, .param .u64 pplaces, .param .u64 pout, .param .u64 array",
      .registers =
          ".reg .pred %p<2>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %q<4>; .reg .b64 %d<8>; .reg .s32 "
          "%c<4>; .reg .b32 %t;",
      .start =
          "ld.param.u64 %d1, [pin]; ld.param.u64 %d2, [pplaces]; ld.param.u64 %d3, [pout]; ld.param.u64 %d4, "
          "[array];\nmov.u32 %t, %tid.x; setp.lt.u32 %p0, %t, " +
          std::to_string(places.size()) +
          "; mul.wide.u32 %d5, %t, 32; add.u64 %d1, %d1, %d5; add.u64 %d3, %d3, %d5; mul.wide.u32 %d5, %t, "
          "16; "
          "add.u64 %d2, %d2, %d5;\nld.global.v4.s32 {%c0, %c1, %c2, %c3}, [%d2];",
      .body = stores ? loads + "@%p0 sust" + form + "[%d4, " + coordinates(g) + "], " + list + ";\n"
                     : "@%p0 suld" + form + list + ", [%d4, " + coordinates(g) + "];\n" + stored,
      .all_written = false};
  std::vector<std::byte> words(32 * 32), where(32 * 16), texels(array_of(g).bytes());
  for (size_t i = 0; i < words.size(); ++i) words[i] = static_cast<std::byte>(201 + 7 * i);
  for (size_t i = 0; i < texels.size(); ++i) texels[i] = static_cast<std::byte>(1 + 3 * i);
  for (size_t i = 0; i < places.size(); ++i)
    for (size_t c = 0; c < 4; ++c) {
      const auto v = static_cast<int32_t>(places[i][c]);
      std::memcpy(&where[16 * i + 4 * c], &v, 4);
    }
  k.buffers = {test::input(std::move(words)), test::input(std::move(where)), test::output(32 * 32)};
  launch::Launch l = k.launch();
  l.buffers.push_back({"a", std::move(texels), true, false, true});
  launch::Pointer handle{0, l.buffers.size() - 1, 0};
  handle.texture = array_of(g);
  l.arguments.push_back({std::vector<std::byte>(8), 0, {}, {handle}});
  return k.run(std::move(l));
}

constexpr Element kElements[] = {{1, "%h", 2}, {1, "%r", 4}, {2, "%h", 2}, {2, "%r", 4},
                                 {4, "%r", 4}, {4, "%q", 8}, {8, "%q", 8}};

template <class Visit>
void each(Visit visit) {
  for (const Geometry& g : kGeometries)
    for (const Element& e : kElements)
      for (const int count : {1, 2, 4})
        if (e.bytes * count <= 16) visit(g, e, count);
}
std::string named(const Geometry& g, const Element& e, int count) {
  return std::string(g.name) + ".v" + std::to_string(count) + " of " + std::to_string(e.bytes) +
         " bytes in " + e.letter;
}

TEST(SurfaceTable, Loads) {
  each([](const Geometry& g, const Element& e, int count) {
    const std::vector<Place> all = places(g, e.bytes * count);
    for (const bool clamps : {true, false})
      for (size_t first = 0; first < all.size(); first += 32) {
        const std::vector<Place> some(
            all.begin() + static_cast<std::ptrdiff_t>(first),
            all.begin() + static_cast<std::ptrdiff_t>(std::min(first + 32, all.size())));
        const test::Left left = moved(g, e, count, clamps ? "clamp" : "zero", false, some);
        ASSERT_EQ(left.end(), "held") << named(g, e, count);
        for (size_t i = 0; i < some.size(); ++i) {
          const auto at = reached(g, e.bytes * count, clamps, some[i]);
          for (int n = 0; n < count; ++n)
            for (int b = 0; b < e.register_bytes; ++b) {
              const auto is = left.buffers[2].bytes[32 * i + static_cast<size_t>(n * e.register_bytes + b)];
              const auto want =
                  b < e.bytes && at ? static_cast<std::byte>(1 + 3 * (*at + n * e.bytes + b)) : std::byte{0};
              ASSERT_EQ(is, want) << named(g, e, count) << " at " << some[i][1] << " " << some[i][2] << " "
                                  << some[i][3] << (clamps ? " clamp" : " zero") << ", byte " << b << " of "
                                  << n;
            }
        }
      }
  });
}

TEST(SurfaceTable, Stores) {
  each([](const Geometry& g, const Element& e, int count) {
    const int64_t size = int64_t{e.bytes} * count;
    for (const bool clamps : {true, false}) {
      // One place for each lane.
      std::vector<Place> some;
      std::set<int64_t> taken;
      for (const Place& p : places(g, size)) {
        const auto at = reached(g, size, clamps, p);
        if (some.size() < 32 && (!at || taken.insert(*at).second)) some.push_back(p);
      }
      const test::Left left = moved(g, e, count, clamps ? "clamp" : "zero", true, some);
      ASSERT_EQ(left.end(), "held") << named(g, e, count);
      std::vector<std::byte> want(left.buffers[3].bytes.size());
      for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<std::byte>(1 + 3 * i);
      for (size_t i = 0; i < some.size(); ++i)
        if (const auto at = reached(g, size, clamps, some[i]))
          for (int n = 0; n < count; ++n)
            for (int b = 0; b < e.bytes; ++b)
              want[static_cast<size_t>(*at + n * e.bytes + b)] =
                  static_cast<std::byte>(201 + 7 * (32 * i + static_cast<size_t>(n * e.register_bytes + b)));
      EXPECT_EQ(left.buffers[3].bytes, want) << named(g, e, count) << (clamps ? " clamp" : " zero");
    }
  });
}

// What is stored must be known, each element of it.
TEST(SurfaceTable, AnElementThatNobodyKnowsIsNotStored) {
  for (const int count : {1, 2, 4})
    for (int unknown = 0; unknown <= count; ++unknown) {
      std::string list;
      for (int i = 0; i < count; ++i)
        list += (i == 0 ? "" : ", ") + (i == unknown ? "%u" : "%r" + std::to_string(i));
      test::Kernel k{
          .parameters = ".param .u64 array",
          .registers = ".reg .b32 %r<4>; .reg .b32 %u; .reg .b64 %d;",
          .start =
              "ld.param.u64 %d, [array]; mov.u32 %r0, 7; mov.u32 %r1, 7; mov.u32 %r2, 7; mov.u32 %r3, 7;",
          .body = "sust.b.1d" + (count == 1 ? "" : ".v" + std::to_string(count)) + ".b32.trap [%d, {0}], " +
                  (count == 1 ? list : "{" + list + "}") + ";",
          .shape = {.block = {1, 1, 1}},
          .all_written = false};
      launch::Launch l = k.launch();
      l.buffers.push_back({"a", std::vector<std::byte>(kRowBytes), true, false, true});
      launch::Pointer handle{0, 0, 0};
      handle.texture = array_of(kGeometries[0]);
      l.arguments.push_back({std::vector<std::byte>(8), 0, {}, {handle}});
      const std::string end = k.run(std::move(l)).end();
      EXPECT_EQ(end == "held", unknown == count) << count << " " << unknown << end;
      if (unknown != count) {
        EXPECT_NE(end.find("what is stored into a surface"), std::string::npos) << end;
      }
    }
}

// One lane outside is a fault, and inside it is none; a layer that is not there is one too.
TEST(SurfaceTable, Traps) {
  for (const Geometry& g : kGeometries)
    for (const Element& e : {kElements[1], kElements[4], kElements[6]})
      for (const bool stores : {true, false}) {
        // In one dimension at a time.
        std::vector<Place> all;
        for (const Place& p : places(g, e.bytes))
          if ((p[1] != 0) + (p[2] > 1 || p[2] < 0) + (p[3] != 0) <= 1) all.push_back(p);
        if (g.layered) all.push_back({kDepth, 0, 0, 0});
        for (const Place& p : all) {
          const bool inside = reached(g, e.bytes, false, p) && p[0] < kDepth;
          const test::Left left = moved(g, e, 1, "trap", stores, {{0, 0, 0, 0}, p});
          EXPECT_EQ(left.fault.empty(), inside)
              << named(g, e, 1) << " at " << p[1] << " " << p[2] << " " << p[3];
          if (!inside) {
            EXPECT_NE(left.fault.find(stores ? "sust outside 'a'" : "suld outside 'a'"), std::string::npos)
                << left.fault;
          }
        }
      }
}

}  // namespace
}  // namespace bitwell::isa
