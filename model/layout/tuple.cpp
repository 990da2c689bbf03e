#include "model/layout/tuple.h"

namespace bitwell::layout {

int64_t multiply(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_mul_overflow(a, b, &r))
    throw LayoutError(std::to_string(a) + " * " + std::to_string(b) + " does not fit in 63 bits");
  return r;
}

int64_t add(int64_t a, int64_t b) {
  int64_t r = 0;
  if (__builtin_add_overflow(a, b, &r))
    throw LayoutError(std::to_string(a) + " + " + std::to_string(b) + " does not fit in 63 bits");
  return r;
}

int64_t ceil_divide(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

size_t rank(const Tuple& t) { return t.is_tuple ? t.items.size() : 1; }

const Tuple& mode(const Tuple& t, size_t i) { return t.is_tuple ? t.items.at(i) : t; }

int64_t product(const Tuple& t) {
  if (!t.is_tuple) return t.value;
  int64_t out = 1;
  for (const Tuple& item : t.items) out = multiply(out, product(item));
  return out;
}

namespace {
void flatten_into(const Tuple& t, std::vector<int64_t>& out) {
  if (!t.is_tuple) out.push_back(t.value);
  for (const Tuple& item : t.items) flatten_into(item, out);
}
}  // namespace

std::vector<int64_t> flatten(const Tuple& t) {
  std::vector<int64_t> out;
  out.reserve(8);  // most layouts have fewer leaves
  flatten_into(t, out);
  return out;
}

bool congruent(const Tuple& a, const Tuple& b) {
  if (a.is_tuple != b.is_tuple || a.items.size() != b.items.size()) return false;
  for (size_t i = 0; i < a.items.size(); ++i)
    if (!congruent(a.items[i], b.items[i])) return false;
  return true;
}

std::string to_string(const Tuple& t) {
  if (!t.is_tuple) return std::to_string(t.value);
  std::string out = "(";
  for (size_t i = 0; i < t.items.size(); ++i) out += (i > 0 ? "," : "") + to_string(t.items[i]);
  return out + ")";
}

}  // namespace bitwell::layout
