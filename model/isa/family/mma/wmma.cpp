// wmma.mma: D = A B + C of fragments that a warp holds (PTX ISA 9.0, 9.7.14.4.5). The manual gives no order
// of summation but for fp64. ptxas 13.0 makes mma.sync's instructions of it, for every target from sm_80 to
// sm_120a: fp16 and bf16 are summed as one of the same k sums them, tf32 as one of k = 4 behind the other. An
// H200 gives the same bits.
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "model/isa/family/emit.h"
#include "model/isa/family/mma/fragments.h"
#include "model/isa/family/mma/mma_exact.h"
#include "model/isa/family/mma/tensor_operands.h"
#include "model/isa/family/mma/unknown_product.h"
#include "model/isa/family/mma/wmma_fragment.h"
#include "model/machine/failure.h"
#include "model/run/context.h"

namespace bitwell::isa {

using machine::kLanes;

namespace {

struct WmmaUse : MatrixProduct {
  WmmaFragment a, b, c;
  bool a_rows = true, b_rows = false;
  size_t m = 0, n = 0, k = 0, at_once = 0;  // at_once: of k
  const number::DotRule* rule = nullptr;    // none: integers or fp64
  const number::Format* type = nullptr;     // of A and B, where there is a rule
  bool is_signed = false, saturates = false;

  bool may_leave_halves() const override { return rule != nullptr && rule->output == &number::f16; }
  std::unique_ptr<MatrixProduct> copy() const override { return std::make_unique<WmmaUse>(*this); }
};

// Element x of a thread in `registers`, as its bits.
uint64_t element(run::Context& context, std::span<const uint32_t> registers, const WmmaFragment& f,
                 size_t lane, size_t x) {
  if (f.bits == 64) return context.row<uint64_t>(registers[x])[lane];
  const uint32_t word = context.row<uint32_t>(registers[x / f.each()])[lane];
  return f.bits == 32 ? word : word >> (x % f.each() * f.bits) & ((1u << f.bits) - 1);
}

// All elements of the fragment, [outer][inner] or, if `turned`, [inner][outer].
template <class T>
std::vector<T> gathered(run::Context& context, std::span<const uint32_t> registers, const WmmaFragment& f,
                        bool turned) {
  std::vector<T> out(f.outer * f.inner);
  for (size_t lane = 0; lane < kLanes; ++lane)
    for (size_t x = 0; x < f.distinct() * f.each(); ++x) {
      const FragmentPlace p = f.place(lane, x);
      out[turned ? p.inner * f.outer + p.outer : p.outer * f.inner + p.inner] =
          static_cast<T>(element(context, registers, f, lane, x));
    }
  return out;
}

template <class T>
void scatter(run::Context& context, const std::vector<uint32_t>& registers, const WmmaFragment& f,
             const std::vector<T>& codes) {
  for (size_t lane = 0; lane < kLanes; ++lane)
    for (size_t x = 0; x < f.distinct() * f.each(); ++x) {
      const FragmentPlace p = f.place(lane, x);
      const T code = codes[p.outer * f.inner + p.inner];
      const size_t r = x / f.each();
      if (f.bits == 64) {
        context.row<uint64_t>(registers[r])[lane] = code;
      } else if (f.bits == 32) {
        context.row<uint32_t>(registers[r])[lane] = static_cast<uint32_t>(code);
      } else {
        uint32_t& word = context.row<uint32_t>(registers[r])[lane];
        word = x % 2 == 0 ? static_cast<uint32_t>(code) : word | static_cast<uint32_t>(code) << 16;
      }
    }
  for (const uint32_t r : registers) context.set_defined(r, ~0u);
}

// Elements `from` to `from + count` of each row of `width`.
std::vector<uint32_t> some_of(const std::vector<uint32_t>& rows, size_t width, size_t from, size_t count) {
  if (count == width) return rows;
  std::vector<uint32_t> out;
  for (size_t row = 0; row < rows.size(); row += width)
    out.insert(out.end(), rows.begin() + static_cast<std::ptrdiff_t>(row + from),
               rows.begin() + static_cast<std::ptrdiff_t>(row + from + count));
  return out;
}

// Registers that hold something of their own: the others of A and B need not be there.
struct Registers {
  std::span<const uint32_t> a, b, c;

  Registers(const Op& op, const WmmaUse& use) {
    const std::span<const uint32_t> all = *op.sources;
    a = all.first(use.a.distinct());
    b = all.subspan(use.a.registers, use.b.distinct());
    c = all.subspan(use.a.registers + use.b.registers);
  }
};

UnknownProduct unknown_product(const WmmaUse& use, run::Context& context, const Registers& registers) {
  UnknownProduct out;
  // visit(bits, row or column of the matrix) of each element of a register, or of C and D both.
  const auto elements = [](const WmmaFragment& f, size_t r, size_t lane, const auto& visit) {
    for (size_t i = 0; i < f.each(); ++i) {
      const uint64_t one = f.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << f.bits) - 1;
      visit(one << i * f.bits, f.place(lane, r * f.each() + i));
    }
  };
  const size_t bytes = use.c.bits == 64 ? 8 : 4;
  const auto look = [&](LackingLines& lines, const WmmaFragment& f, std::span<const uint32_t> of,
                        bool outer) {
    lines.look(context, of, bytes, [&](size_t r, size_t lane, const auto& visit) {
      elements(f, r, lane, [&](uint64_t bits, FragmentPlace p) { visit(bits, outer ? p.outer : p.inner); });
    });
  };
  look(out.rows, use.a, registers.a, use.a_rows);
  look(out.columns, use.b, registers.b, !use.b_rows);
  out.take(context, registers.c, bytes, [&](size_t r, size_t lane, const auto& visit) {
    elements(use.c, r, lane, [&](uint64_t bits, FragmentPlace p) { visit(bits, p.outer, p.inner); });
  });
  return out;
}

void multiply(const Op& op, run::Context& context, const WmmaUse& use, const Registers& registers) {
  if (use.a.bits == 64) {
    const auto a = gathered<uint64_t>(context, registers.a, use.a, !use.a_rows);
    const auto b = gathered<uint64_t>(context, registers.b, use.b, use.b_rows);  // [n][k]
    auto d = gathered<uint64_t>(context, registers.c, use.c, false);
    for (size_t at = 0; at < d.size(); ++at)
      for (size_t k = 0; k < use.k; ++k)
        d[at] = fused_double(a[at / use.n * use.k + k], b[at % use.n * use.k + k], d[at]);
    scatter(context, *op.results, use.c, d);
    return;
  }
  const auto a = gathered<uint32_t>(context, registers.a, use.a, !use.a_rows);
  const auto b = gathered<uint32_t>(context, registers.b, use.b, use.b_rows);
  auto d = gathered<uint32_t>(context, registers.c, use.c, false);
  if (use.rule != nullptr) {
    for (size_t k = 0; k < use.k; k += use.at_once) {
      const auto its_a = some_of(a, use.k, k, use.at_once), its_b = some_of(b, use.k, k, use.at_once);
      const number::DotColumns columns =
          number::prepare_columns(*use.rule, {use.type, its_b}, use.n, use.at_once);
      const std::vector<uint32_t> before = use.watch != nullptr ? d : std::vector<uint32_t>();
      number::dot_tile(*use.rule, {use.type, its_a}, use.m, columns, d);
      if (use.watch != nullptr)
        use.watch->look({*use.rule,
                         {use.type, its_a},
                         columns,
                         before,
                         d,
                         0,
                         0,
                         context.cta.place(context.warp, context.split(), -1)});
    }
  } else {
    for (size_t at = 0; at < d.size(); ++at) {
      int64_t sum = static_cast<int32_t>(d[at]);
      for (size_t k = 0; k < use.k; ++k)
        sum += byte_value(a[at / use.n * use.k + k], use.is_signed) *
               byte_value(b[at % use.n * use.k + k], use.is_signed);
      d[at] = static_cast<uint32_t>(stored_integer(sum, use.saturates));
    }
  }
  scatter(context, *op.results, use.c, d);
}

Next wmma(const Op& op, run::Context& context, uint32_t mask) {
  if (!run::whole_warp(context, mask)) return Next::wait;
  const auto& use = op.as<WmmaUse>();
  const Registers registers(op, use);
  std::optional<UnknownProduct> unknown;
  if (lacks(context, registers.a) || lacks(context, registers.b) || lacks(context, registers.c))
    unknown = unknown_product(use, context, registers);
  multiply(op, context, use, registers);
  if (unknown) unknown->give(context, *op.results);
  return Next::advance;
}

// wmma.mma d, a, b, c
void multiply_form(Builder& b, const Match& m) {
  const ptx::Instruction& i = b.instruction();
  operands_left(b, m, 4);
  std::vector<std::string> types;
  for (const std::string& modifier : i.modifiers)
    if (order_class(modifier) == OrderClass::type) types.push_back(modifier);
  const std::string type = types.size() == 2 ? ".f16" : types[1];  // of A and B
  if (types.front() != types.back())
    throw machine::Unsupported("'" + m.name + "': C and D of different types");
  if (ptx::has(i, ".rz") || ptx::has(i, ".rm") || ptx::has(i, ".rp"))
    throw machine::Unsupported("'" + m.name + "': a rounding other than to nearest");
  Op op = effect_without_memory(b, wmma);
  auto& use = b.payload<WmmaUse>(op);
  const std::string& shape = i.modifiers[5];
  use.a_rows = i.modifiers[3] == ".row";
  use.b_rows = i.modifiers[4] == ".row";
  use.a = wmma_fragment('a', shape, use.a_rows, type);
  use.b = wmma_fragment('b', shape, use.b_rows, type);
  use.c = wmma_fragment('c', shape, true, types.front());
  use.m = use.c.outer;
  use.n = use.c.inner;
  use.k = extent(shape, 'k');
  use.at_once = type == ".tf32" ? 4 : use.k;
  use.is_signed = type == ".s8";
  use.saturates = ptx::has(i, ".satfinite");
  if (type != ".f64" && type != ".s8" && type != ".u8") {
    use.type = &tensor_format(type);
    use.rule = &dot_rule(b.sm(), "mma.sync", *use.type, *use.type, tensor_format(types.front()));
  }
  op.results = b.new_list();
  op.sources = b.new_list();
  const auto held = [&](const std::string& t) -> const Type& {
    return b.type(t == ".f16" ? ".f16x2" : t == ".f64" || t == ".f32" || t == ".s32" ? t : ".b32");
  };
  const auto registers = [&](size_t n, const WmmaFragment& f, const Type& t, std::vector<uint32_t>& out) {
    const ptx::Operand& o = b.operand(n);
    if (o.kind != ptx::OperandKind::vector || o.elements.size() != f.registers)
      throw Invalid("operand " + std::to_string(n) + " of '" + m.name + "' must be a vector of " +
                    std::to_string(f.registers) + " registers");
    for (const ptx::Operand& e : o.elements) {
      const Value v = n == 0 ? b.destination(e, t) : b.source(e, t, false, false);
      if (t.name == ".b32" && v.type != nullptr && (v.type->kind == 'f' || v.type->kind == 'x'))
        throw Invalid("register '" + e.name + "' is " + std::string(v.type->name) + " where .b32 is needed");
      out.push_back(v.row);
    }
  };
  registers(0, use.c, held(types.front()), *op.results);
  registers(1, use.a, held(type), *op.sources);
  registers(2, use.b, held(type), *op.sources);
  registers(3, use.c, held(types.back()), *op.sources);
  b.emit(op);
}

#define MMA(shapes) "wmma.mma|.sync.aligned{.row,.col}{.row,.col}" shapes
#define K16 "{.m16n16k16,.m8n32k16,.m32n8k16}"
constexpr Form kWmma[] = {
    {MMA(K16) "{.f16,.f32}{.f16,.f32}", "*", multiply_form, 61, 70},
    {MMA(K16) ".s32.s8.s8.s32[.satfinite]", "*", multiply_form, 63, 72},
    {MMA(K16) ".s32.u8.u8.s32[.satfinite]", "*", multiply_form, 63, 72},
    {MMA(K16) ".f32.bf16.bf16.f32", "*", multiply_form, 70, 80},
    {MMA(".m16n16k8") ".f32.tf32.tf32.f32", "*", multiply_form, 70, 80},
    {MMA(".m8n8k4") "[.rn,.rz,.rm,.rp].f64.f64.f64.f64", "*", multiply_form, 70, 80},
};
#undef MMA
#undef K16

}  // namespace

std::span<const Form> wmma_forms() { return kWmma; }

}  // namespace bitwell::isa
