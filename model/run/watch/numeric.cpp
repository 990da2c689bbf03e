#include "model/run/watch/numeric.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <sstream>

#include "model/number/half.h"
#include "model/run/context.h"
#include "model/run/watch/definedness.h"
#include "model/run/watch/matrix_losses.h"

namespace bitwell::run {

using Form = Losses::Form;

struct NumericWatch::Watched : isa::Payload {
  isa::Op plain;  // as it was
  bool brain = false;
  bool flushes = false;  // .ftz
  bool packed = false;
  bool unbounded = true;  // neither .sat nor .relu nor .satfinite
  Bound bound;
  mutable Losses seen;
};

namespace {

using Watched = NumericWatch::Watched;
constexpr size_t kOperands = 3;

float value_of(uint16_t code, bool brain) {
  if (!brain) return number::half_to_float(code);
  return std::bit_cast<float>(static_cast<uint32_t>(code) << 16);
}

// A product's nearest value of the format: fp32 holds it exactly, but for bf16 beyond fp32's own range.
float rounded(float product, bool brain) {
  if (!brain) return number::round_to_half(product);
  if (!std::isfinite(product)) return product;
  const auto bits = std::bit_cast<uint32_t>(product);
  return std::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000);
}

// The two terms of a sum; none of what is no sum.
std::optional<std::array<float, 2>> terms(Form form, const float* v) {
  switch (form) {
    case Form::sum: return {{v[0], v[1]}};
    case Form::difference: return {{v[0], -v[1]}};
    case Form::product_and_sum: return {{v[0] * v[1], v[2]}};
    default: return std::nullopt;
  }
}

size_t operand_count(Form form) {
  return form == Form::conversion ? 1 : form == Form::product_and_sum ? 3 : 2;
}

// A conversion to two results takes them from two operands, the upper from the first.
struct Row {
  std::byte bytes[machine::kRowBytes];

  float half(const Watched& w, int lane, size_t which) const {
    uint16_t code = 0;
    const size_t index = w.packed ? 2 * static_cast<size_t>(lane) + which : static_cast<size_t>(lane);
    std::memcpy(&code, bytes + 2 * index, sizeof code);
    const float v = value_of(code, w.brain);
    const bool subnormal = (code & (w.brain ? 0x7F80 : 0x7C00)) == 0;
    return w.flushes && subnormal ? std::copysign(0.0f, v) : v;
  }
  float whole(int lane) const {
    float v = 0;
    std::memcpy(&v, bytes + sizeof v * static_cast<size_t>(lane), sizeof v);
    return v;
  }
};

Row row_at(Context& context, uint32_t offset) {
  Row out;
  std::memcpy(out.bytes, context.rows() + offset, sizeof out.bytes);
  return out;
}

void look(const Watched& w, const std::array<Row, kOperands>& rows, const Row& result, Context& context,
          uint32_t lanes) {
  const size_t count = operand_count(w.seen.form);
  Losses& seen = LossesApart::of(w.seen);
  for (; lanes != 0; lanes &= lanes - 1) {
    const int lane = __builtin_ctz(lanes);
    for (size_t which = 0; which < (w.packed ? 2 : 1); ++which) {
      float v[kOperands];
      for (size_t i = 0; i < count; ++i)
        v[i] = w.seen.form == Form::conversion ? rows[w.packed ? 1 - which : 0].whole(lane)
                                               : rows[i].half(w, lane, which);
      if (!std::all_of(v, v + count, [](float f) { return std::isfinite(f); })) continue;
      ++seen.results;
      const float out = result.half(w, lane, which);
      const auto lost = [&](Loss& loss) {
        if (loss.count++ != 0) return;
        loss.first = context.cta.place(context.warp, context.split(), lane);
        loss.operands.assign(v, v + count);
        loss.result = out;
      };
      if (std::isinf(out)) lost(seen.overflowed);
      const auto sum = terms(w.seen.form, v);
      if (!sum || !w.unbounded || !std::isfinite(out)) continue;
      const auto [x, y] = *sum;
      const float larger = std::fabs(x) > std::fabs(y) ? x : y;
      if (x != 0 && y != 0 && std::fabs(x) != std::fabs(y) && out == rounded(larger, w.brain))
        lost(seen.absorbed);
      const int bits = w.bound ? lost_bits(rounded(x, w.brain), rounded(y, w.brain), out, w.brain) : 0;
      if (!w.bound || bits <= *w.bound) continue;
      lost(seen.shortened);
      seen.shortened.bits = std::max(seen.shortened.bits, bits);
    }
  }
}

// Lane arithmetic, as the run loop does it, with a look at its operands before.
isa::Next watched_lanes(const isa::Op& op, Context& context, uint32_t mask) {
  const auto& w = op.as<Watched>();
  const std::array<Row, kOperands> rows{row_at(context, w.plain.a), row_at(context, w.plain.b),
                                        row_at(context, w.plain.c)};
  uint32_t known = ~0u;
  if (context.checked)
    known = context.defined_at(w.plain.a) & context.defined_at(w.plain.b) & context.defined_at(w.plain.c);
  if ((mask & ~known) != 0) {
    run_unknown(w.plain, context, mask);
  } else {
    w.plain.lanes(w.plain, context.rows(), mask);
    context.set_defined(w.plain.d, mask);
  }
  look(w, rows, row_at(context, w.plain.d), context, mask & known);
  return isa::Next::advance;
}

std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, '.');) out.push_back(part);
  return out;
}

// What is watched of an instruction; none where nothing is.
std::optional<Form> form_of(const std::vector<std::string>& parts) {
  const std::string& op = parts.front();
  const auto is_half = [](const std::string& type) {
    return type.starts_with("f16") || type.starts_with("bf16");
  };
  if (op == "cvt" && parts.size() > 2)
    return is_half(parts[parts.size() - 2]) && parts.back() == "f32" ? std::optional(Form::conversion)
                                                                     : std::nullopt;
  if (!is_half(parts.back())) return std::nullopt;
  if (op == "add") return Form::sum;
  if (op == "sub") return Form::difference;
  if (op == "mul") return Form::product;
  return op == "fma" ? std::optional(Form::product_and_sum) : std::nullopt;
}

}  // namespace

NumericWatch::NumericWatch(isa::Program& program, Bound bound) : bound_(bound) {
  for (isa::Function& f : program.functions)
    for (size_t pc = 0; pc < f.code.size(); ++pc) {
      isa::Op& op = f.code[pc];
      watch_product(f, op);
      const auto same = [&](size_t other) {
        return other < f.code.size() && f.code[other].kind != isa::OpKind::jump &&
               f.code[other].line == op.line;
      };
      // One op of several: its operands are not the instruction's.
      if (!same(pc - 1) && !same(pc + 1)) watch_lanes(f, op);
    }
}

NumericWatch::~NumericWatch() = default;

void NumericWatch::watch_product(isa::Function& function, isa::Op& op) {
  const auto* product = dynamic_cast<const isa::MatrixProduct*>(op.payload);
  if (product == nullptr || !product->may_leave_halves()) return;
  products_.push_back(std::make_unique<MatrixLosses>(function.lines[static_cast<size_t>(op.line)], bound_));
  std::unique_ptr<isa::MatrixProduct> watched = product->copy();
  watched->watch = products_.back().get();
  op.payload = watched.get();
  function.payloads.push_back(std::move(watched));
}

void NumericWatch::watch_lanes(isa::Function& function, isa::Op& op) {
  const isa::Line& line = function.lines[static_cast<size_t>(op.line)];
  const std::vector<std::string> parts = parts_of(line.text);
  const auto form = parts.empty() ? std::nullopt : form_of(parts);
  if (!form || op.kind != isa::OpKind::lanes || op.results != nullptr || op.sources != nullptr) return;
  const auto has = [&](const char* part) { return std::count(parts.begin(), parts.end(), part) != 0; };
  auto payload = std::make_unique<Watched>();
  payload->plain = op;
  const std::string& type = *form == Form::conversion ? parts[parts.size() - 2] : parts.back();
  payload->brain = type.starts_with("bf16");
  payload->packed = type.ends_with("x2");
  payload->flushes = has("ftz");
  payload->unbounded = !has("sat") && !has("relu") && !has("satfinite");
  payload->bound = bound_;
  payload->seen.form = *form;
  payload->seen.ptx_line = line.ptx;
  payload->seen.instruction = line.text;
  op.kind = isa::OpKind::effect;
  op.effect = watched_lanes;
  op.payload = payload.get();
  watched_.push_back(payload.get());
  function.payloads.push_back(std::move(payload));
}

std::vector<Losses> NumericWatch::losses() const {
  std::vector<Losses> out;
  const auto take = [&](const Losses& seen) {
    if (seen.overflowed.count != 0 || seen.absorbed.count != 0 || seen.shortened.count != 0)
      out.push_back(seen);
  };
  for (const Watched* w : watched_) take(w->seen);
  for (const auto& product : products_) take(product->seen());
  std::sort(out.begin(), out.end(), [](const Losses& a, const Losses& b) { return a.ptx_line < b.ptx_line; });
  return out;
}

}  // namespace bitwell::run
