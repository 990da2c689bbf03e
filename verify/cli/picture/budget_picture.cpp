#include "verify/cli/picture/budget_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/layout/tensor_memory.h"
#include "verify/cli/picture/svg.h"

namespace bitwell::cli {
namespace {

using budget::Audit;
using budget::Fit;
using budget::Line;
using budget::Per;

struct Share {
  std::string name;
  int64_t amount;
  int hue;
  int step;
  bool wrong;
};

// The items as a bar holds them: fixed ones, then stage after stage.
std::vector<Share> parts(const Audit& a, const Fit& f, bool by_layout) {
  std::vector<Share> out;
  const auto size = [&](const Line& l) { return by_layout && l.layout ? *l.layout : l.formula; };
  int hue = 0;
  // More boxes than pixels would say nothing: then one for all.
  const auto many = [&](int64_t count) { return count > 400; };
  for (const Line& l : a.shared) {
    const bool wrong = l.layout && *l.layout != l.formula;
    if (l.item.per != Per::cta) continue;
    if (many(l.count))
      out.push_back({fmt::format("{} x {}", l.count, l.item.name), size(l) * l.count, hue, 0, wrong});
    for (int64_t n = 0; !many(l.count) && n < l.count; ++n)
      out.push_back({l.count > 1 ? fmt::format("{} {}", l.item.name, n) : l.item.name, size(l), hue,
                     static_cast<int>(n), wrong});
    ++hue;
  }
  if (many(f.stages)) out.push_back({fmt::format("{} stages", f.stages), f.stage * f.stages, 6, 0, false});
  for (int64_t s = 0; !many(f.stages) && s < f.stages; ++s)
    out.push_back({fmt::format("stage {}", s), f.stage, 6, static_cast<int>(s % 2), false});
  if (many(f.epilogue_stages))
    out.push_back(
        {fmt::format("{} epilogue stages", f.epilogue_stages), f.epilogue * f.epilogue_stages, 7, 0, false});
  for (int64_t s = 0; !many(f.epilogue_stages) && s < f.epilogue_stages; ++s)
    out.push_back({fmt::format("epilogue {}", s), f.epilogue, 7, static_cast<int>(s % 2), false});
  return out;
}

void bar(Svg& svg, double x, double y, double width, double height, const std::vector<Share>& all,
         int64_t capacity, const char* unit) {
  const double scale = width / static_cast<double>(capacity);
  svg.box(x, y, width, height, "#f4f4f4", "", "#999999");
  double at = x;
  for (const Share& p : all) {
    if (p.amount == 0) continue;
    const double w = static_cast<double>(p.amount) * scale;
    svg.box(at, y, w, height, tint(p.hue, p.step), fmt::format("{}: {} {}", p.name, p.amount, unit),
            p.wrong ? "#c00000" : "#ffffff");
    if (w > 6.2 * static_cast<double>(p.name.size()))
      svg.text(at + w / 2, y + height / 2, p.name, 11, "middle");
    at += w;
  }
  svg.line(x + width, y - 6, x + width, y + height + 6, "#1a1a1a");
}

}  // namespace

std::string picture(const std::vector<NamedAudit>& audits) {
  Svg svg;
  const double x = 150;
  const double width = 1000;
  double y = 24;
  for (const NamedAudit& n : audits) {
    const Audit& a = n.audit;
    svg.text(10, y, n.title, 16, "start", "#1a1a1a", true);
    y += 30;
    const auto shared = [&](const char* label, const Fit& f, bool by_layout) {
      svg.text(x - 10, y + 17, label, 12, "end");
      bar(svg, x, y, width, 34, parts(a, f, by_layout), f.capacity, "bytes");
      svg.text(x + width + 12, y + 10, fmt::format("{} stages, {} epilogue", f.stages, f.epilogue_stages), 12,
               "start", "#1a1a1a", true);
      svg.text(x + width + 12, y + 26,
               fmt::format("{} of {} bytes{}", f.used, f.capacity, f.fits ? "" : ": does not fit"), 11,
               "start", f.fits ? "#444444" : "#c00000");
      y += 50;
    };
    shared("as written", a.written, false);
    shared("as laid out", a.laid_out, true);
    if (a.laid_out.columns > 0) {
      std::vector<Share> columns;
      int hue = 0;
      for (const Line& l : a.tensor) {
        const int64_t each = l.layout ? *l.layout : l.formula;
        for (int64_t c = 0; c < std::min(l.count, layout::kTensorColumns); ++c)
          columns.push_back({l.count > 1 ? fmt::format("{} {}", l.item.name, c) : l.item.name, each, hue,
                             static_cast<int>(c), false});
        ++hue;
      }
      svg.text(x - 10, y + 12, "tensor memory", 12, "end");
      bar(svg, x, y, width, 24, columns, layout::kTensorColumns, "columns");
      svg.text(x + width + 12, y + 12,
               fmt::format("{} of {} columns, {} allocated", a.laid_out.columns, layout::kTensorColumns,
                           a.laid_out.allocated),
               12);
      y += 40;
    }
    y += 24;
  }
  return svg.document();
}

}  // namespace bitwell::cli
