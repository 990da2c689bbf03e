// The layout algebra's laws over shrinking random nested layouts, and CuTe's own results.
#include "model/layout/algebra.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>

#include "model/layout/expression.h"

namespace bitwell::layout {
namespace {

struct Leaf {
  int64_t extent;
  int64_t gap;     // its stride is the running product of extents and gaps
  bool broadcast;  // stride 0
};

// Nested as the bits of `nesting` say: neighbours joined into tuples.
Tuple nest(const std::vector<int64_t>& values, unsigned nesting) {
  std::vector<Tuple> out;
  for (size_t i = 0; i < values.size(); ++i) {
    const bool joins = i > 0 && (nesting >> i & 1) != 0;
    if (!joins)
      out.emplace_back(values[i]);
    else if (out.back().is_tuple)
      out.back().items.emplace_back(values[i]);
    else
      out.back() = Tuple(std::vector<Tuple>{out.back(), values[i]});
  }
  return out.size() == 1 && (nesting & 1) == 0 ? out[0] : Tuple(out);
}

// `injective`: strides are the running product, in a random order of modes, with gaps.
rc::Gen<Layout> layouts(const std::vector<int64_t>& extents, bool injective, int most = 4) {
  const bool powers =
      std::all_of(extents.begin(), extents.end(), [](int64_t e) { return (e & (e - 1)) == 0; });
  const std::vector<int64_t> gaps =
      powers ? std::vector<int64_t>{1, 1, 1, 2, 4} : std::vector<int64_t>{1, 1, 2, 3};
  const auto leaf = rc::gen::construct<Leaf>(
      rc::gen::elementOf(extents), rc::gen::elementOf(gaps),
      injective ? rc::gen::just(false) : rc::gen::weightedElement<bool>({{5, false}, {1, true}}));
  return rc::gen::map(
      rc::gen::tuple(rc::gen::resize(most, rc::gen::nonEmpty(rc::gen::container<std::vector<Leaf>>(leaf))),
                     rc::gen::arbitrary<unsigned>(), rc::gen::inRange<unsigned>(0, 120)),
      [most](const std::tuple<std::vector<Leaf>, unsigned, unsigned>& all) {
        const auto& [drawn, nesting, order] = all;
        // resize() is a hint that a container may pass; past it a product of layouts is too large to list.
        const std::vector<Leaf> leaves(drawn.begin(),
                                       drawn.begin() + std::min<std::ptrdiff_t>(std::ssize(drawn), most));
        std::vector<size_t> places(leaves.size());
        std::iota(places.begin(), places.end(), size_t{0});
        for (unsigned n = 0; n < order % 24; ++n) std::next_permutation(places.begin(), places.end());
        std::vector<int64_t> shape(leaves.size());
        std::vector<int64_t> stride(leaves.size());
        int64_t current = 1;
        for (const size_t i : places) {
          current *= leaves[i].gap;
          shape[i] = leaves[i].extent;
          stride[i] = leaves[i].broadcast ? 0 : current;
          current *= leaves[i].extent;
        }
        return Layout(nest(shape, nesting), nest(stride, nesting));
      });
}

const std::vector<int64_t> kAny{1, 2, 3, 4, 5, 8};
const std::vector<int64_t> kPowers{1, 2, 4, 8};

}  // namespace
}  // namespace bitwell::layout

namespace rc {
template <>
struct Arbitrary<bitwell::layout::Layout> {
  static Gen<bitwell::layout::Layout> arbitrary() {
    return bitwell::layout::layouts(bitwell::layout::kAny, false);
  }
};
}  // namespace rc

namespace bitwell::layout {
void showValue(const Layout& l, std::ostream& out) { out << to_string(l); }

namespace {

std::set<int64_t> image(const Layout& l) {
  const std::vector<int64_t> all = offsets(l);
  return {all.begin(), all.end()};
}
bool injective(const Layout& l) { return static_cast<int64_t>(image(l).size()) == size(l); }

RC_GTEST_PROP(Layout, ACoordinateHasTheOffsetOfItsIndex, (const Layout& l)) {
  const std::vector<int64_t> all = offsets(l);
  RC_ASSERT(static_cast<int64_t>(all.size()) == size(l));
  for (int64_t i = 0; i < size(l); ++i) {
    RC_ASSERT(l(i) == all[static_cast<size_t>(i)]);
    RC_ASSERT(l(l.coordinate(i)) == l(i));
  }
  RC_ASSERT(cosize(l) == 1 + *std::max_element(all.begin(), all.end()));
}

RC_GTEST_PROP(Collision, IsFoundWhereTwoIndicesShareAnOffsetAndNowhereElse, ()) {
  std::vector<int64_t> shape;
  std::vector<int64_t> stride;
  for (int modes = *rc::gen::inRange(1, 5); modes > 0; --modes) {
    shape.push_back(*rc::gen::element<int64_t>(1, 2, 3, 4, 5));
    stride.push_back(*rc::gen::inRange<int64_t>(-12, 13));
  }
  const Layout l(nest(shape, 0), nest(stride, 0));
  const auto found = collision(l);
  RC_ASSERT(found.has_value() == !injective(l));
  if (found) {
    RC_ASSERT(found->first != found->second);
    RC_ASSERT(l(found->first) == l(found->second));
  }
}

TEST(Collision, NeedsNoListOfOffsetsWhereEachStridePassesTheModesBelowIt) {
  EXPECT_FALSE(collision(parse_layout("(1048576,65536):(65536,1)")));
  EXPECT_THROW(collision(parse_layout("(1048576,65537):(65536,1)")), LayoutError);
}

RC_GTEST_PROP(Layout, PrintsWhatItParses, (const Layout& l)) { RC_ASSERT(parse_layout(to_string(l)) == l); }

RC_GTEST_PROP(Coalesce, IsTheSameFunctionWithNothingLeftToMerge, (const Layout& l)) {
  const Layout c = coalesce(l);
  RC_ASSERT(offsets(c) == offsets(l));
  RC_ASSERT(coalesce(c) == c);
  const std::vector<int64_t> shape = flatten(c.shape());
  const std::vector<int64_t> stride = flatten(c.stride());
  for (size_t i = 0; i + 1 < shape.size(); ++i) {
    RC_ASSERT(shape[i] != 1);
    RC_ASSERT(shape[i] * stride[i] != stride[i + 1]);
  }
  const Layout by_mode = coalesce(l, l.shape().is_tuple ? Tuple(std::vector<Tuple>(rank(l), 1)) : Tuple(1));
  RC_ASSERT(offsets(by_mode) == offsets(l));
}

RC_GTEST_PROP(Filter, KeepsTheSetOfOffsetsOnceEach, ()) {
  const Layout l = *layouts(kAny, false);
  RC_ASSERT(image(filter(l)) == image(l));
  const Layout sparse = *layouts(kAny, true);
  RC_ASSERT(offsets(filter(sparse)) == offsets(sparse));
}

RC_GTEST_PROP(Composition, AppliesOneAfterTheOther, ()) {
  const Layout a = *layouts(kPowers, false, 3);
  const Layout b = *layouts(kPowers, false, 3);
  const Layout c = composition(a, b);  // powers of two always divide
  RC_ASSERT(size(c) == size(b));
  for (int64_t i = 0; i < size(b); ++i) RC_ASSERT(c(i) == a(b(i)));
}

RC_GTEST_PROP(Composition, OfAnyLayoutsAppliesOneAfterTheOtherOrIsRefused, ()) {
  const Layout a = *layouts(kAny, false);
  const Layout b = *layouts(kAny, false);
  try {
    const Layout c = composition(a, b);
    if (cosize(b) <= size(a))  // beyond its size `a` is not what its modes say
      for (int64_t i = 0; i < size(b); ++i) RC_ASSERT(c(i) == a(b(i)));
  } catch (const LayoutError&) {
    RC_TAG("refused");
  }
}

RC_GTEST_PROP(Complement, FillsWhatTheLayoutLeavesOut, ()) {
  const Layout l = *layouts(kPowers, true, 3);
  const auto cotarget = cosize(l) * *rc::gen::inRange<int64_t>(1, 5);
  const Layout rest = complement(l, cotarget);
  RC_ASSERT(injective(join({l, rest})));
  RC_ASSERT(size(l) * size(rest) >= cotarget);
  const std::vector<int64_t> all = offsets(rest);
  RC_ASSERT(std::is_sorted(all.begin(), all.end()));
}

RC_GTEST_PROP(Inverse, RightGivesBackTheIndexOfAnOffset, (const Layout& l)) {
  const Layout r = right_inverse(l);
  for (int64_t i = 0; i < size(r); ++i) RC_ASSERT(l(r(i)) == i);
  // The longest: the next offset is reached by no coordinate that continues the run.
  const std::set<int64_t> all = image(l);
  if (size(r) == size(l)) RC_ASSERT(static_cast<int64_t>(all.size()) == size(l));
}

RC_GTEST_PROP(Inverse, LeftGivesBackTheIndex, ()) {
  const Layout l = *layouts(kPowers, true, 3);
  const Layout inverse = left_inverse(l);
  for (int64_t i = 0; i < size(l); ++i) RC_ASSERT(inverse(l(i)) == i);
}

RC_GTEST_PROP(Divide, TilesAndRestsReachEveryElementOnce, ()) {
  const Layout l = *layouts(kPowers, true, 3);
  const Layout t = *layouts(kPowers, true, 3);
  RC_PRE(size(t) * size(complement(t, size(l))) == size(l));
  const Layout d = logical_divide(l, t);
  RC_ASSERT(image(d) == image(l));
  for (int64_t i = 0; i < size(t); ++i) RC_ASSERT(mode(d, 0)(i) == l(t(i)));
  RC_ASSERT(offsets(zipped_divide(l, t)) == offsets(d));
  RC_ASSERT(offsets(tiled_divide(l, t)) == offsets(d));
  RC_ASSERT(offsets(flat_divide(l, t)) == offsets(d));
}

RC_GTEST_PROP(Divide, ByModeGathersTilesBeforeRests, ()) {
  const Layout l = join({*layouts({4, 8}, true, 1), *layouts({4, 8}, true, 2)});
  const auto m = *rc::gen::element<int64_t>(1, 2, 4);
  const auto n = *rc::gen::element<int64_t>(1, 2, 4);
  const Tiler t(std::vector<Tiler>{Layout(m, 1), Layout(n, 1)});
  const Layout z = zipped_divide(l, t);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j)
      RC_ASSERT(mode(z, 0)(std::vector<Tuple>{i, j}) == l(std::vector<Tuple>{i, j}));
  RC_ASSERT(image(z) == image(logical_divide(l, t)));
  RC_ASSERT(offsets(tiled_divide(l, t)) == offsets(z));
  RC_ASSERT(offsets(flat_divide(l, t)) == offsets(z));
}

RC_GTEST_PROP(Product, RepeatsTheBlockWithoutOverlap, ()) {
  const Layout block = *layouts(kPowers, true, 3);
  const Layout t = *layouts(kPowers, true, 3);
  const Layout p = logical_product(block, t);
  RC_ASSERT(injective(p));
  RC_ASSERT(size(p) == size(block) * size(t));
  RC_ASSERT(offsets(mode(p, 0)) == offsets(block));
  RC_ASSERT(offsets(zipped_product(block, t)) == offsets(p));
  RC_ASSERT(offsets(tiled_product(block, t)) == offsets(p));
  RC_ASSERT(offsets(flat_product(block, t)) == offsets(p));
}

RC_GTEST_PROP(Product, BlockedAndRakedPlaceTheSameElements, ()) {
  const Layout block = join({*layouts({2, 4}, true, 2), *layouts({2, 4}, true, 2)});
  RC_PRE(injective(block));
  const Layout t = Layout(std::vector<Tuple>{2, 4},
                          *rc::gen::element(0, 1) != 0 ? std::vector<Tuple>{1, 2} : std::vector<Tuple>{4, 1});
  const Layout blocked = blocked_product(block, t);
  const Layout raked = raked_product(block, t);
  RC_ASSERT(image(blocked) == image(logical_product(block, t)));
  RC_ASSERT(image(raked) == image(blocked));
  for (size_t i = 0; i < 2; ++i) {
    RC_ASSERT(mode(mode(blocked, i), 0) == mode(mode(raked, i), 1));
    RC_ASSERT(mode(mode(blocked, i), 1) == mode(mode(raked, i), 0));
  }
}

RC_GTEST_PROP(TileToShape, FillsTheTargetWithBlocks, ()) {
  const auto m = *rc::gen::element<int64_t>(2, 4, 8);
  const auto n = *rc::gen::element<int64_t>(2, 3, 4);
  const Layout block(std::vector<Tuple>{m, n}, std::vector<Tuple>{n, 1});
  const Tuple target(
      std::vector<Tuple>{m * *rc::gen::inRange<int64_t>(1, 5), n * *rc::gen::inRange<int64_t>(1, 5)});
  for (const char* order : {"(1,2)", "(2,1)"}) {
    const Layout whole = tile_to_shape(
        block, target,
        *order == '(' && order[1] == '1' ? Tuple(std::vector<Tuple>{1, 2}) : Tuple(std::vector<Tuple>{2, 1}));
    RC_ASSERT(size(whole) == product(target));
    RC_ASSERT(cosize(whole) == product(target));
    RC_ASSERT(injective(whole));
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        RC_ASSERT(whole(std::vector<Tuple>{i, j}) == block(std::vector<Tuple>{i, j}));
  }
}

RC_GTEST_PROP(Recast, DownAndUpAgainIsTheSameStorage, ()) {
  // One mode of adjacent elements, the others at least 4 apart.
  const Layout l =
      join({Layout(4, 1), composition(Layout(int64_t{1} << 40, 4), *layouts(kPowers, false, 3))});
  const auto n = *rc::gen::element<int64_t>(1, 2, 4);
  const Layout down = downcast(l, n);
  std::set<int64_t> expected;
  for (const int64_t o : offsets(l))
    for (int64_t j = 0; j < n; ++j) expected.insert(o * n + j);
  RC_ASSERT(image(down) == expected);
  RC_ASSERT(offsets(upcast(down, n)) == offsets(l));
  RC_ASSERT(offsets(recast(recast(l, 8, 4), 4, 8)) == offsets(l));
}

RC_GTEST_PROP(Swizzle, IsAnInvolutionAndPermutesItsPeriod, ()) {
  const auto bits = *rc::gen::inRange(0, 4);
  const auto base = *rc::gen::inRange(0, 5);
  const auto shift = *rc::gen::inRange(bits, 5) * *rc::gen::element(1, -1);
  const Swizzle s{bits, base, shift};
  const int64_t period = int64_t{1} << (bits + base + std::abs(shift));
  std::set<int64_t> seen;
  for (int64_t x = 0; x < period; ++x) {
    RC_ASSERT(s(s(x)) == x);
    RC_ASSERT(s(x) >= 0 && s(x) < period);
    seen.insert(s(x));
    RC_ASSERT(s(x + period) == s(x) + period);
  }
  RC_ASSERT(static_cast<int64_t>(seen.size()) == period);
}

// cute.txt: expressions and what the CUTLASS headers made of them (compare_cute.py --write).
TEST(CuTe, ItsHeadersGiveTheSameLayouts) {
  std::ifstream in(BITWELL_CUTE_WORDS);
  ASSERT_TRUE(in.good()) << BITWELL_CUTE_WORDS;
  size_t compared = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    const size_t at = line.find(" => ");
    ASSERT_NE(at, std::string::npos) << line;
    const std::string expression = line.substr(0, at);
    const Value v = evaluate(expression);
    const std::string got = std::holds_alternative<int64_t>(v) ? std::to_string(std::get<int64_t>(v))
                                                               : to_string(std::get<Composed>(v));
    EXPECT_EQ(got, line.substr(at + 4)) << expression;
    ++compared;
  }
  EXPECT_GE(compared, 500u);
}

TEST(Expression, ErrorsNameTheColumnAndWhatWasExpected) {
  struct Case {
    const char* text;
    int column;
    const char* what;
  };
  for (const Case& c :
       {Case{"(4,8", 5, "expected ')', found the end"},
        Case{"", 1, "expected a layout, a shape or a function, found the end"},
        Case{"(4,8):(1,x)", 10, "expected an integer, found 'x'"}, Case{"(4,8):(1)", 1, "not nested alike"},
        Case{"4:1 2", 5, "expected the end"}, Case{"(4,0):(1,4)", 1, "extent 0"},
        Case{"weave(4:1)", 1, "unknown function 'weave'"},
        Case{"coalesce(4:1, 2, 3)", 1, "expected coalesce(layout[, profile])"},
        Case{"upcast(4:1, 2:1)", 13, "expected an integer"},
        Case{"upcast(4:3, 2)", 1, "stride 3 neither divides"}, Case{"composition(6:1, 4:4)", 0, ""},
        Case{"complement((4,4):(1,1))", 1, "same offset"},
        Case{"99999999999999999999:1", 1, "beyond 63 bits"},
        Case{"size((4611686018427387904,4):(1,1))", 1, "does not fit in 63 bits"},
        Case{"S<3,4,2> o 0 o 8:1", 2, "|shift| >= bits"}, Case{"[2:1]", 1, "a tiler is not a layout"}}) {
    try {
      evaluate(c.text);
      EXPECT_EQ(c.column, 0) << c.text << " is taken";
    } catch (const LayoutError& e) {
      EXPECT_EQ(e.column, c.column) << c.text << ": " << e.what();
      EXPECT_NE(std::string(e.what()).find(c.what), std::string::npos) << c.text << ": " << e.what();
    }
  }
}

TEST(Expression, SwizzledLayoutsPrintWhatTheyParse) {
  const Composed c = parse_composed("Sw<3,4,3> o 0 o (_8,_64):(_64,_1)");
  EXPECT_EQ(to_string(c), "S<3,4,3> o 0 o (8,64):(64,1)");
  EXPECT_EQ(c(std::vector<Tuple>{1, 0}), 64);
  EXPECT_EQ(parse_composed("S<3,4,3> o 0 o (8,128):(128,1)")(std::vector<Tuple>{1, 0}), 128 ^ 16);
}

}  // namespace
}  // namespace bitwell::layout
