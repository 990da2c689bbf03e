// What grouped's host makes of the groups' shapes, and keeps from call to call. Plain C++.
#pragma once
#include <cstddef>
#include <list>
#include <utility>
#include <vector>

#include "launch.h"

namespace grouped {

// A launch's table, and how many tiles it has.
struct Metadata {
  std::vector<Group> groups;
  int tiles = 0;
};

// m, n and k of each group; operands of a kind lie one group after another.
inline Metadata metadata(const std::vector<int>& m, const std::vector<int>& n, const std::vector<int>& k) {
  Metadata out;
  Group next{};
  const auto scales = [](int rows, int steps) {
    return static_cast<long long>(nvfp4::up(rows, nvfp4::kRows)) * steps * nvfp4::kAtom;
  };
  for (std::size_t i = 0; i < m.size(); ++i) {
    next.m = m[i];
    next.n = n[i];
    next.k = k[i];
    next.first_tile = out.tiles;
    out.groups.push_back(next);
    out.tiles += next.tiles();
    next.a += static_cast<long long>(next.m) * next.k / 2;
    next.b += static_cast<long long>(next.n) * next.k / 2;
    next.sfa += scales(next.m, next.k / nvfp4::kStep);
    next.sfb += scales(next.n, next.k / nvfp4::kStep);
    next.d += static_cast<long long>(next.m) * next.n;
  }
  return out;
}

// A tensor of a caller: the same one if it is the same object. Shapes belong to it.
struct Tensor {
  const void* object;
  int rows, k;
  bool operator==(const Tensor& other) const {
    return object == other.object && rows == other.rows && k == other.k;
  }
};
struct Operands {
  Tensor a, b;
};

// Which calls share metadata. `first_tensor` is the key of "Optimizing an NVFP4 Group GEMM Kernel on Blackwell", and wrong: calls
// that have their first tensor in common may differ in everything else.
enum class Key { first_tensor, every_tensor };

// Metadata of calls, made once for the same tensors. The latest kMost are kept.
class MetadataCache {
 public:
  explicit MetadataCache(Key key) : key_(key) {}
  // Stays until kMost others have been made.
  const Metadata& of(const std::vector<Operands>& groups) {
    for (const auto& [made_of, kept] : entries_)
      if (same(made_of, groups)) return kept;
    std::vector<int> m, n, k;
    for (const Operands& g : groups) {
      m.push_back(g.a.rows);
      n.push_back(g.b.rows);
      k.push_back(g.a.k);
    }
    if (entries_.size() == kMost) entries_.pop_back();
    entries_.emplace_front(groups, metadata(m, n, k));
    return entries_.front().second;
  }

 private:
  static constexpr std::size_t kMost = 16;
  bool same(const std::vector<Operands>& x, const std::vector<Operands>& y) const {
    if (key_ == Key::first_tensor) return x.front().a.object == y.front().a.object;
    if (x.size() != y.size()) return false;
    for (std::size_t i = 0; i < x.size(); ++i)
      if (!(x[i].a == y[i].a) || !(x[i].b == y[i].b)) return false;
    return true;
  }
  Key key_;
  std::list<std::pair<std::vector<Operands>, Metadata>> entries_;
};

}  // namespace grouped
