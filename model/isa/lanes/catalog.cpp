// Chooses, once, the widest instruction set that this host has.
#include "model/isa/lanes/catalog.h"

#include <unordered_map>

#include "model/isa/lanes/address_scan.h"
#include "model/isa/lanes/line_moves.h"
#include "model/isa/lanes/row_moves.h"
#include "model/isa/lanes/tracks.h"
#include "model/machine/failure.h"
#include "model/number/simd_level.h"

namespace bitwell::isa {

#define BITWELL_DECLARE(level)       \
  namespace level {                  \
  void add_integer(Catalog&);        \
  void add_words(Catalog&);          \
  void add_compare(Catalog&);        \
  void add_float(Catalog&);          \
  void add_half(Catalog&);           \
  void add_half_order(Catalog&);     \
  void add_half_convert(Catalog&);   \
  void add_narrow_convert(Catalog&); \
  void add_convert(Catalog&);        \
  void add_float_convert(Catalog&);  \
  void add_directed(Catalog&);       \
  void add_pack(Catalog&);           \
  AddressScans make_address_scans(); \
  RowMoves make_row_moves();         \
  LineMoves make_line_moves();       \
  }
BITWELL_DECLARE(scalar)
BITWELL_DECLARE(avx2)
BITWELL_DECLARE(avx512)
#undef BITWELL_DECLARE

namespace {

#define BITWELL_FILL(level)       \
  [] {                            \
    Catalog c;                    \
    level::add_integer(c);        \
    level::add_words(c);          \
    level::add_compare(c);        \
    level::add_float(c);          \
    level::add_half(c);           \
    level::add_half_order(c);     \
    level::add_half_convert(c);   \
    level::add_narrow_convert(c); \
    level::add_convert(c);        \
    level::add_float_convert(c);  \
    level::add_directed(c);       \
    level::add_pack(c);           \
    return c;                     \
  }()

}  // namespace

const Catalog& lanes_catalog(const std::string& level) {
  static const Catalog none;
  static const Catalog scalar_catalog = BITWELL_FILL(scalar);
  static const Catalog avx2_catalog = number::has_level("avx2") ? BITWELL_FILL(avx2) : none;
  static const Catalog avx512_catalog = number::has_level("avx512") ? BITWELL_FILL(avx512) : none;
  if (level == "avx512") return avx512_catalog;
  if (level == "avx2") return avx2_catalog;
  return scalar_catalog;
}

const Catalog& lanes_catalog() {
  static const Catalog& best = number::has_level("avx512") ? lanes_catalog("avx512")
                               : number::has_level("avx2") ? lanes_catalog("avx2")
                                                           : lanes_catalog("scalar");
  return best;
}

const AddressScans& address_scans() {
  static const AddressScans best = number::has_level("avx512") ? avx512::make_address_scans()
                                   : number::has_level("avx2") ? avx2::make_address_scans()
                                                               : scalar::make_address_scans();
  return best;
}

const RowMoves& row_moves() {
  static const RowMoves best = number::has_level("avx512") ? avx512::make_row_moves()
                               : number::has_level("avx2") ? avx2::make_row_moves()
                                                           : scalar::make_row_moves();
  return best;
}

const LineMoves& line_moves(std::string_view level) {
  // Code of an instruction set that the host lacks is not called, not even to say what there is.
  static const LineMoves none, scalar = scalar::make_line_moves(),
                               avx2 = number::has_level("avx2") ? avx2::make_line_moves() : none,
                               avx512 = number::has_level("avx512") ? avx512::make_line_moves() : none;
  if (level.empty()) return avx512.copy != nullptr ? avx512 : avx2.copy != nullptr ? avx2 : scalar;
  return level == "avx512" ? avx512 : level == "avx2" ? avx2 : scalar;
}

Op lane_op(const std::string& name) {
  // Of a name once: how bits are tracked is read from it.
  static thread_local std::unordered_map<std::string, Op> made;
  if (const auto known = made.find(name); known != made.end()) return known->second;
  const auto at = lanes_catalog().find(name);
  if (at == lanes_catalog().end()) throw machine::ModelBug("no lane loop '" + name + "'");
  Op op;
  op.lanes = at->second;
  track_bits(op, name);
  return made.emplace(name, op).first->second;
}

}  // namespace bitwell::isa
