// What mutate.py writes into a copy of model/: every mutant is compiled in, and one is chosen at run time by
// its number. Without a choice everything is as it was, and it is noted which mutants would have made a
// difference.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace bitwell::mutate {

inline constexpr int kMost = 1 << 20;
inline unsigned char met[kMost];

inline int chosen_one() {
  const char* const text = std::getenv("BITWELL_MUTANT");
  return text == nullptr ? 0 : std::atoi(text);
}
inline const int chosen = chosen_one();

// At the end of the process: the numbers of those met, behind what other processes of a test wrote into the
// file that BITWELL_MUTANTS_MET names.
struct Report {
  ~Report() {
    const char* const path = std::getenv("BITWELL_MUTANTS_MET");
    std::FILE* const out = path == nullptr ? nullptr : std::fopen(path, "a");
    if (out == nullptr) return;
    for (int n = 1; n < kMost; ++n)
      if (met[n] != 0) std::fprintf(out, "%d\n", n);
    std::fclose(out);
  }
};
inline const Report report;

// Notes that mutant n would make a difference here; whether it is the chosen one.
constexpr bool mutant(int n) {
  if (std::is_constant_evaluated()) return false;
  met[n] = 1;
  return chosen == n;
}

// `wrong` of mutant n; it is met where that differs.
template <class T>
constexpr T one_of(int n, T right, T wrong) {
  return right == wrong ? right : mutant(n) ? wrong : right;
}

template <class T>
constexpr T constant(int n, T value) {
  if (mutant(n)) return static_cast<T>(value + 1);
  if (value > 0 && mutant(n + 1)) return static_cast<T>(value - 1);
  return value;
}

constexpr bool negated(int n, bool value) { return mutant(n) ? !value : value; }

// Where nothing needs to be known when it is compiled. What calls them is not known then either.
template <class T>
T at_run_time_constant(int n, T value) {
  return constant(n, value);
}
inline bool at_run_time_negated(int n, bool value) { return negated(n, value); }

// What has one of the two operators alone has the other by its contrary.
template <class A, class B>
constexpr bool at_most(const A& a, const B& b) {
  if constexpr (requires { a <= b; })
    return static_cast<bool>(a <= b);
  else
    return !(b < a);
}
template <class A, class B>
constexpr bool at_least(const A& a, const B& b) {
  if constexpr (requires { a >= b; })
    return static_cast<bool>(a >= b);
  else
    return !(b > a);
}

template <class A, class B>
constexpr bool less(int n, const A& a, const B& b) {
  return negated(n + 1, one_of(n, static_cast<bool>(a < b), at_most(a, b)));
}
template <class A, class B>
constexpr bool less_equal(int n, const A& a, const B& b) {
  return negated(n + 1, one_of(n, static_cast<bool>(a <= b), static_cast<bool>(a < b)));
}
template <class A, class B>
constexpr bool greater(int n, const A& a, const B& b) {
  return negated(n + 1, one_of(n, static_cast<bool>(a > b), at_least(a, b)));
}
template <class A, class B>
constexpr bool greater_equal(int n, const A& a, const B& b) {
  return negated(n + 1, one_of(n, static_cast<bool>(a >= b), static_cast<bool>(a > b)));
}
template <class A, class B>
constexpr bool equal(int n, const A& a, const B& b) {
  return negated(n, static_cast<bool>(a == b));
}
template <class A, class B>
constexpr bool not_equal(int n, const A& a, const B& b) {
  return negated(n, static_cast<bool>(a != b));
}

// Without the left side, without the right one, with || for &&.
template <class B>
constexpr bool both(int n, bool a, const B& b) {
  if (!a) return (mutant(n) || mutant(n + 2)) && b();
  const bool value = b();
  return value || mutant(n + 1) || mutant(n + 2);
}
template <class B>
constexpr bool either(int n, bool a, const B& b) {
  if (a) return !(mutant(n) || mutant(n + 2)) || b();
  const bool value = b();
  return value && !mutant(n + 1) && !mutant(n + 2);
}

// One operator in another's place; of an atomic too.
#define BITWELL_OPERATOR(name, right, wrong)                                                       \
  template <class A, class B>                                                                      \
  constexpr auto name(int n, const A& a, const B& b) {                                             \
    return one_of<decltype(a right b)>(n, a right b, static_cast<decltype(a right b)>(a wrong b)); \
  }
BITWELL_OPERATOR(plus, +, -)
BITWELL_OPERATOR(minus, -, +)
BITWELL_OPERATOR(times, *, +)
BITWELL_OPERATOR(over, /, *)
BITWELL_OPERATOR(remainder, %, /)
BITWELL_OPERATOR(bits_of_both, &, |)
BITWELL_OPERATOR(bits_of_either, |, &)
BITWELL_OPERATOR(bits_of_one, ^, |)
#undef BITWELL_OPERATOR
// What is shifted out is gone: the other way only for the mutant itself.
template <class A, class B>
constexpr auto shifted_left(int n, const A& a, const B& b) {
  return mutant(n) ? static_cast<decltype(a << b)>(a >> b) : a << b;
}
template <class A, class B>
constexpr auto shifted_right(int n, const A& a, const B& b) {
  return mutant(n) ? static_cast<decltype(a >> b)>(a << b) : a >> b;
}

// An assignment that forgets what stood there.
template <class A, class B>
constexpr A& adds(int n, A& a, const B& b) {
  return a = one_of<A>(n, static_cast<A>(a + b), static_cast<A>(b));
}
template <class A, class B>
constexpr A& takes(int n, A& a, const B& b) {
  return a = one_of<A>(n, static_cast<A>(a - b), static_cast<A>(b));
}
template <class A, class B>
constexpr A& joins(int n, A& a, const B& b) {
  return a = one_of<A>(n, static_cast<A>(a | b), static_cast<A>(b));
}
template <class A, class B>
constexpr A& keeps_of(int n, A& a, const B& b) {
  return a = one_of<A>(n, static_cast<A>(a & b), static_cast<A>(b));
}

template <class T>
constexpr T least(int n, const std::type_identity_t<T>& a, const std::type_identity_t<T>& b) {
  return one_of<T>(n, b < a ? b : a, a < b ? b : a);
}
template <class T>
constexpr T most(int n, const std::type_identity_t<T>& a, const std::type_identity_t<T>& b) {
  return one_of<T>(n, a < b ? b : a, b < a ? b : a);
}
template <class T>
constexpr T least_of(int n, const T& a, const T& b) {
  return least<T>(n, a, b);
}
template <class T>
constexpr T most_of(int n, const T& a, const T& b) {
  return most<T>(n, a, b);
}

}  // namespace bitwell::mutate
