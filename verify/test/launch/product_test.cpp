// What has become of a piece of k is named from the wrong elements alone. The products here are sums of small
// whole numbers.
#include "verify/launch/file/product.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstring>
#include <random>

namespace bitwell::launch {
namespace {

using What = WrongProducts::What;

struct Problem {
  uint64_t m, n, k;
  std::vector<int> a, b;  // m x k, n x k

  Problem(uint64_t rows, uint64_t columns, uint64_t depth, uint64_t seed)
      : m(rows), n(columns), k(depth), a(m * k), b(n * k) {
    std::mt19937_64 random(seed);
    for (std::vector<int>* all : {&a, &b})
      for (int& x : *all) x = static_cast<int>(random() % 15) - 7;
  }
  // Of element i: the sum of `count` products from there on.
  int sum(uint64_t i, uint64_t a_from, uint64_t b_from, uint64_t count) const {
    int out = 0;
    for (uint64_t t = 0; t < count; ++t) out += a[i / n * k + a_from + t] * b[i % n * k + b_from + t];
    return out;
  }
  Product product(bool b_is_kn = false) const {
    const auto array = [&](const std::vector<int>& of, uint64_t count, bool turned) {
      Array out{"f4", {count, k}, std::vector<std::byte>(4 * of.size())};
      for (uint64_t i = 0; i < of.size(); ++i) {
        const auto x = static_cast<float>(of[turned ? i % count * k + i / count : i]);
        std::memcpy(&out.bytes[4 * i], &x, 4);
      }
      if (turned) std::swap(out.shape[0], out.shape[1]);
      return out;
    };
    return {{array(a, m, false), ""}, {array(b, n, b_is_kn), ""}, m, n, k, b_is_kn};
  }
  // The elements that `off` makes wrong.
  template <class F>
  std::vector<WrongElement> wrong(F off, double in_doubt = 0) const {
    std::vector<WrongElement> out;
    for (uint64_t i = 0; i < m * n; ++i)
      if (const int d = off(i); d != 0) out.push_back({i, static_cast<double>(d), in_doubt});
    return out;
  }
};

struct Piece {
  uint64_t k, from, to, width;  // width: of the steps of which it is one; 0: a longer piece
};
// By name: the first and the last step, one that is not whole, the last where wider ones are not whole, half
// of all, all but a step, all.
constexpr Piece kPieces[] = {{64, 0, 16, 16},      {64, 48, 64, 16},    {512, 64, 128, 64},
                             {512, 256, 512, 256}, {200, 192, 200, 64}, {192, 128, 192, 64},
                             {512, 64, 256, 0},    {128, 16, 128, 0},   {128, 0, 128, 0}};

void is_named(const Problem& p, const std::vector<WrongElement>& wrong, What what, const Piece& piece,
              const Product& product) {
  const std::optional<WrongProducts> found = wrong_products(product, wrong);
  RC_ASSERT(found.has_value());
  RC_ASSERT(found->what == what);
  RC_ASSERT(found->from == piece.from);
  RC_ASSERT(found->to == piece.to);
  RC_ASSERT(found->width == piece.width);
  RC_ASSERT(found->elements == wrong.size());
  RC_ASSERT(wrong.size() <= p.m * p.n);
}

void pieces_are_named(const Piece& piece, uint64_t seed, bool b_is_kn) {
  const Problem p(11, 13, piece.k, seed);
  const auto sum = [&](uint64_t i) { return p.sum(i, piece.from, piece.from, piece.to - piece.from); };
  is_named(p, p.wrong([&](uint64_t i) { return -sum(i); }), What::missing, piece, p.product(b_is_kn));
  is_named(p, p.wrong(sum), What::twice, piece, p.product(b_is_kn));
}

TEST(WrongProducts, PiecesThatAreMissingOrThereTwiceAreNamed) {
  for (const Piece& piece : kPieces)
    for (const bool b_is_kn : {false, true})
      EXPECT_TRUE(rc::check([&] { pieces_are_named(piece, *rc::gen::arbitrary<uint64_t>(), b_is_kn); }))
          << piece.k << ": " << piece.from << " to " << piece.to;
}

TEST(WrongProducts, AnyStepOfAnyWidthIsNamed) {
  EXPECT_TRUE(rc::check([] {
    const uint64_t width = *rc::gen::element<uint64_t>(16, 32, 64, 128, 256);
    const uint64_t steps = *rc::gen::inRange<uint64_t>(2, 9);
    const uint64_t at = *rc::gen::inRange<uint64_t>(0, steps);
    pieces_are_named({width * steps, width * at, width * (at + 1), width}, *rc::gen::arbitrary<uint64_t>(),
                     *rc::gen::arbitrary<bool>());
  }));
}

TEST(WrongProducts, AStepOfWhichAFactorWasAnotherStepsIsNamed) {
  EXPECT_TRUE(rc::check([] {
    const uint64_t width = *rc::gen::element<uint64_t>(16, 64, 256);
    const uint64_t steps = *rc::gen::inRange<uint64_t>(2, 9);
    const uint64_t at = *rc::gen::inRange<uint64_t>(0, steps) * width;
    const uint64_t other = *rc::gen::suchThat(rc::gen::inRange<uint64_t>(0, steps), [&](uint64_t s) {
      return s != at / width;
    }) * width;
    const int which = *rc::gen::inRange(0, 3);
    const uint64_t a = which == 1 ? at : other;
    const uint64_t b = which == 2 ? at : other;
    const Problem p(9, 14, width * steps, *rc::gen::arbitrary<uint64_t>());
    const std::vector<WrongElement> wrong =
        p.wrong([&](uint64_t i) { return p.sum(i, a, b, width) - p.sum(i, at, at, width); });
    is_named(p, wrong, What::exchanged, {p.k, at, at + width, width}, p.product());
    const std::optional<WrongProducts> found = wrong_products(p.product(), wrong);
    RC_ASSERT(found->a_from == a);
    RC_ASSERT(found->b_from == b);
  }));
}

// Where one element in 30 is wrong for another reason the others still tell; where every third is, nothing
// does.
TEST(WrongProducts, NearlyAllWrongElementsMustHaveTheSameReason) {
  const Problem p(30, 30, 256, 1);
  std::mt19937_64 random(2);
  const auto mixed = [&](uint64_t every) {
    return p.wrong([&](uint64_t i) {
      return i % every == 7 % every ? static_cast<int>(random() % 1999) + 5000 : -p.sum(i, 64, 64, 64);
    });
  };
  const std::optional<WrongProducts> found = wrong_products(p.product(), mixed(30));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->from, 64u);
  EXPECT_EQ(found->elements + 30, mixed(30).size());
  EXPECT_FALSE(wrong_products(p.product(), mixed(3)));
}

TEST(WrongProducts, RandomErrorsHaveNoReason) {
  EXPECT_TRUE(rc::check([] {
    const Problem p(16, 16, 256, *rc::gen::arbitrary<uint64_t>());
    std::mt19937_64 random(*rc::gen::arbitrary<uint64_t>());
    const int most = *rc::gen::element(1, 100, 10000);
    const std::vector<WrongElement> wrong = p.wrong(
        [&](uint64_t) { return static_cast<int>(random() % (2 * static_cast<uint64_t>(most) + 1)) - most; });
    RC_ASSERT(!wrong_products(p.product(), wrong));
  }));
}

// A few elements, or errors within what is in doubt, say nothing; two steps that explain the same do not
// either.
TEST(WrongProducts, WhatMayBeChanceIsNotNamed) {
  const Problem p(16, 16, 256, 3);
  const auto missing = [&](uint64_t i) { return -p.sum(i, 128, 128, 64); };
  std::vector<WrongElement> few = p.wrong(missing);
  few.resize(7);
  EXPECT_FALSE(wrong_products(p.product(), few));
  EXPECT_TRUE(wrong_products(p.product(), p.wrong(missing, 0.25)));
  EXPECT_FALSE(wrong_products(p.product(), p.wrong(missing, 1e6)));
  Problem zeros(16, 16, 256, 3);  // of the products of k 128 to 191 all but the first are 0
  for (uint64_t i = 0; i < zeros.a.size(); ++i)
    if (i % 256 >= 129 && i % 256 < 192) zeros.a[i] = 0;
  EXPECT_FALSE(
      wrong_products(zeros.product(), zeros.wrong([&](uint64_t i) { return -zeros.sum(i, 128, 128, 64); })));
}

}  // namespace
}  // namespace bitwell::launch
