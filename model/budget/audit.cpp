#include "model/budget/audit.h"

#include <algorithm>
#include <cstdlib>

#include "model/layout/algebra.h"
#include "model/layout/expression.h"
#include "model/layout/tensor_memory.h"

namespace bitwell::budget {
namespace {

// {formula} replaced by its value.
std::string filled(const std::string& text, const Names& names) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      out += text[i];
      continue;
    }
    const size_t end = text.find('}', i);
    if (end == std::string::npos) throw BudgetError("layout '" + text + "': '{' without '}'");
    out += std::to_string(evaluate(text.substr(i + 1, end - i - 1), names));
    i = end;
  }
  return out;
}

// A parameter is a formula, or a word such as "128x4" or "none". `words`: the layout wants a word there.
std::string parameter(const std::string& text, bool words, const Names& names) {
  if (words) return text;
  try {
    return std::to_string(evaluate(text, names));
  } catch (const BudgetError&) {
    return text;
  }
}

bool wants_word(const std::string& name, const std::string& key) {
  for (const layout::Named& n : layout::named_layouts())
    for (const layout::ParameterHelp& p : n.parameters)
      if (name == n.name && key == p.name)
        return std::string(p.preset).find_first_not_of("0123456789") != std::string::npos;
  return false;
}

// Bytes of a shared-memory layout, columns of a tensor-memory one.
void measure(Line& line, const LayoutText& text, const Names& names, bool tensor) {
  try {
    if (!text.expression.empty()) {
      line.layout_text = filled(text.expression, names);
      const layout::Composed c = layout::parse_composed(line.layout_text);
      if (tensor)
        throw layout::LayoutError("an expression has no lanes and columns: name a layout of tensor memory");
      if (c.offset != 0) throw layout::LayoutError("an offset before the operand's first element");
      if (c.swizzle) {
        const int64_t period = int64_t{1} << (c.swizzle->bits + c.swizzle->base + std::abs(c.swizzle->shift));
        if (layout::cosize(c.layout) % period != 0)
          throw layout::LayoutError("no whole number of the swizzle's periods of " + std::to_string(period));
      }
      const layout::Layout stored = layout::filter(c.layout);  // broadcasts share their element on purpose
      for (const int64_t stride : layout::flatten(stored.stride()))
        if (stride < 0) throw layout::LayoutError("a negative stride: offsets below the operand's start");
      if (const auto shared = layout::collision(stored))
        throw layout::LayoutError("not injective: elements " + std::to_string(shared->first) + " and " +
                                  std::to_string(shared->second) + " of " + layout::to_string(stored) +
                                  " share offset " + std::to_string(stored(shared->first)));
      const int64_t bits = evaluate(text.bits, names);
      if (bits <= 0) throw BudgetError("elements of " + std::to_string(bits) + " bits");
      line.layout = layout::ceil_divide(layout::multiply(layout::cosize(c.layout), bits), 8);
      return;
    }
    layout::Parameters given;
    line.layout_text = text.name;
    for (const auto& [key, formula] : text.parameters) {
      given[key] = parameter(formula, wants_word(text.name, key), names);
      line.layout_text += " --" + key + " " + given[key];
    }
    const layout::Hardware h = layout::named_layout(text.name, given);
    const bool is_tensor = h.space == layout::Space::tensor;
    if (is_tensor != tensor)
      throw BudgetError(text.name + " is a layout of " + (is_tensor ? "tensor" : "shared") + " memory");
    line.layout = tensor ? h.region : layout::ceil_divide(layout::multiply(h.region, h.unit_bits), 8);
  } catch (const layout::LayoutError& e) {
    throw LayoutRefused("layout '" + line.layout_text + "'" +
                        (e.column > 0 ? ", column " + std::to_string(e.column) : "") + ": " + e.what());
  }
}

// Formulas near the written one that give what the layout has: divided or multiplied by one of the names, or
// by the plain ratio.
std::vector<std::string> fixes(const Line& line, const Names& names) {
  std::vector<std::string> out;
  const int64_t have = line.formula;
  const int64_t want = *line.layout;
  for (const auto& [name, value] : names) {
    if (value <= 1) continue;
    const std::string known = name + " (= " + std::to_string(value) + ")";
    if (have % value == 0 && have / value == want) out.push_back("divide by " + known);
    if (want % value == 0 && want / value == have) out.push_back("multiply by " + known);
  }
  // Names that say how the work is shared come first: they are what is forgotten.
  std::stable_partition(out.begin(), out.end(),
                        [](const std::string& f) { return f.find("cta") != std::string::npos; });
  if (out.empty() && want != 0 && have % want == 0) out.push_back("divide by " + std::to_string(have / want));
  if (out.empty() && have != 0 && want % have == 0)
    out.push_back("multiply by " + std::to_string(want / have));
  if (out.empty()) out.push_back("write " + std::to_string(want));
  return out;
}

std::vector<Line> lines(const std::vector<Item>& items, const Names& names, bool tensor, bool& all_agree) {
  std::vector<Line> out;
  for (const Item& item : items) {
    Line line{item, 1, 0, std::nullopt, "", Verdict::unchecked, {}};
    try {
      line.count = evaluate(item.count, names);
      line.formula = evaluate(item.size, names);
      if (line.count < 0 || line.formula < 0) throw BudgetError("a negative size or count");
      if (item.layout) measure(line, *item.layout, names, tensor);
    } catch (const LayoutRefused& e) {
      throw LayoutRefused(item.name + ": " + e.what());
    } catch (const BudgetError& e) {
      throw BudgetError(item.name + ": " + e.what());
    }
    if (line.layout) {
      line.verdict = *line.layout == line.formula  ? Verdict::agrees
                     : *line.layout < line.formula ? Verdict::too_large
                                                   : Verdict::too_small;
      if (line.verdict != Verdict::agrees) {
        line.fixes = fixes(line, names);
        all_agree = false;
      }
    }
    out.push_back(std::move(line));
  }
  return out;
}

Fit fit(const Audit& a, const Spec& spec, bool by_layout) {
  const auto size = [&](const Line& l) {
    return layout::multiply(by_layout && l.layout ? *l.layout : l.formula, l.count);
  };
  Fit f;
  f.capacity = evaluate(spec.capacity, a.names);
  if (f.capacity <= 0) throw BudgetError("capacity is " + std::to_string(f.capacity) + " bytes");
  for (const Line& l : a.shared) {
    int64_t& sum = l.item.per == Per::cta ? f.fixed : l.item.per == Per::stage ? f.stage : f.epilogue;
    sum = layout::add(sum, size(l));
  }
  const int64_t set_aside = f.epilogue > 0 ? 2 : 0;
  const int64_t room = f.capacity - layout::add(f.fixed, layout::multiply(set_aside, f.epilogue));
  // A kernel whose fixed part does not fit gets no stages; solvers written in C truncate to the same.
  f.stages = f.stage > 0 && room > 0 ? room / f.stage : 0;
  f.epilogue_stages =
      f.epilogue > 0 ? set_aside + std::max<int64_t>(0, (room - f.stages * f.stage) / f.epilogue) : 0;
  f.used = layout::add(f.fixed, f.stages * f.stage + f.epilogue_stages * f.epilogue);
  for (const Line& l : a.tensor) f.columns = layout::add(f.columns, size(l));
  if (f.columns > 0 && f.columns <= layout::kTensorColumns)
    for (f.allocated = 32; f.allocated < f.columns;) f.allocated *= 2;
  const int64_t least = f.stage > 0 ? evaluate(spec.least_stages, a.names) : 0;
  f.fits = f.stages >= least && f.used <= f.capacity && f.columns <= layout::kTensorColumns;
  return f;
}

}  // namespace

static Audit checked_audit(const Spec& spec, const Names& overrides) {
  Audit out;
  out.names = names_of(spec, overrides);
  out.shared = lines(spec.shared, out.names, false, out.agrees);
  out.tensor = lines(spec.tensor, out.names, true, out.agrees);
  out.written = fit(out, spec, false);
  out.laid_out = fit(out, spec, true);
  // The written stages, each at the size it really has.
  const Fit& w = out.written;
  out.idle = w.capacity -
             (out.laid_out.fixed + w.stages * out.laid_out.stage + w.epilogue_stages * out.laid_out.epilogue);
  return out;
}

Audit audit(const Spec& spec, const Names& overrides) {
  try {
    return checked_audit(spec, overrides);
  } catch (const layout::LayoutError& e) {  // a sum or product beyond 63 bits
    throw BudgetError(e.what());
  }
}

}  // namespace bitwell::budget
