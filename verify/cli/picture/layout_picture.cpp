#include "verify/cli/picture/layout_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "verify/cli/picture/svg.h"

namespace bitwell::cli {
namespace {

using layout::Composed;
using layout::Hardware;
using layout::Tuple;

// What fits a picture that a person reads.
constexpr int64_t kMostLines = 64;
constexpr int64_t kMostColumns = 64;

// Every coordinate by its offset, once for the whole picture.
std::map<int64_t, Tuple> by_offset(const Hardware& h) {
  std::map<int64_t, Tuple> out;
  int64_t count = 1;
  for (const layout::Axis& a : h.axes) count *= a.extent;
  for (int64_t i = 0; i < count; ++i) {
    Tuple c = coordinate_of(h, i);
    const int64_t offset = h.layout(c);
    out.emplace(offset, std::move(c));
  }
  return out;
}

bool has_axis(const Hardware& h, const std::string& name) {
  return std::any_of(h.axes.begin(), h.axes.end(), [&](const layout::Axis& a) { return a.name == name; });
}

// Rows in chunks of 32 keep one colour, K steps darken it: what tcgen05.cp moves together looks alike.
std::string colour(const Hardware& h, const Tuple& c) {
  const int64_t a = c.items[0].value;
  const int64_t b = c.items.size() > 1 ? c.items[1].value : 0;
  if (has_axis(h, "scale")) return tint(static_cast<int>(a / 32), static_cast<int>(b / 4));
  if (has_axis(h, "thread")) return tint(static_cast<int>(a / 4), static_cast<int>(b));
  if (has_axis(h, "column")) return tint(static_cast<int>(b / 8));
  if (has_axis(h, "copy")) return tint(static_cast<int>(a / 8), static_cast<int>(c.items[2].value));
  return tint(static_cast<int>(a));
}

// "5:4" is row 5 from scale 4 on; "t5 r1" thread and register.
std::string label(const Hardware& h, const Tuple& c) {
  if (has_axis(h, "half"))
    return fmt::format("t{} r{}{}", c.items[0].value, c.items[1].value, c.items[2].value == 0 ? "l" : "h");
  if (has_axis(h, "thread")) return fmt::format("t{} r{}", c.items[0].value, c.items[1].value);
  return fmt::format("{}:{}", c.items[0].value, c.items.size() > 1 ? c.items[1].value : 0);
}

std::string label_help(const Hardware& h) {
  if (has_axis(h, "half")) return "thread, register, low or high half";
  if (has_axis(h, "thread")) return "thread, register";
  return h.axes[0].name + ":" + (h.axes.size() > 1 ? h.axes[1].name : "0");
}

struct Word {
  std::string label;
  std::string fill = "#f4f4f4";
  std::string hover;
};

// The elements of `units` from `offset` on.
Word word_at(const Hardware& h, const std::map<int64_t, Tuple>& all, int64_t offset, int64_t units) {
  Word out;
  std::string list;
  const Tuple* first = nullptr;
  const Tuple* last = nullptr;
  for (auto at = all.lower_bound(offset); at != all.end() && at->first < offset + units; ++at) {
    if (first == nullptr) first = &at->second;
    last = &at->second;
  }
  out.hover = address_text(h, offset);
  if (first == nullptr) {
    out.hover += ": nothing of this layout";
    return out;
  }
  out.label = label(h, *first);
  out.fill = colour(h, *first);
  out.hover += ": " + coordinate_text(h, *first);
  if (last != first) out.hover += " to " + coordinate_text(h, *last);
  return out;
}

void heading(Svg& svg, const Hardware& h, double& y) {
  svg.text(10, y, h.name, 20, "start", "#1a1a1a", true);
  std::string axes;
  for (const layout::Axis& a : h.axes)
    axes += fmt::format("{}{} {}", axes.empty() ? "" : " x ", a.extent, a.name);
  svg.text(10, y + 24, axes + "    " + layout::to_string(h.layout), 12, "start", "#444444");
  svg.text(10, y + 42, h.source + "    (" + h.evidence + ")", 11, "start", "#666666");
  y += 62;
  for (const std::string& note : h.notes) {
    svg.text(10, y, note, 12);
    y += 17;
  }
  y += 26;
}

void tensor_picture(Svg& svg, const Hardware& h, double y) {
  const std::map<int64_t, Tuple> all = by_offset(h);
  int64_t columns = 0;
  int64_t first = 128;
  int64_t lanes = 0;
  for (const auto& [offset, c] : all) {
    const layout::TensorAddress a = layout::tensor_address(offset);
    columns = std::max(columns, a.column + 1);
    first = std::min(first, a.lane);
    lanes = std::max(lanes, a.lane + 1);
  }
  lanes = std::min<int64_t>(lanes - first, 32);
  // Left: all 128 lanes small, so that the repetition and the shift are seen at once.
  const double tiny = std::min(9.0, 420.0 / static_cast<double>(columns));
  double left = 60;
  for (int64_t cta = 0; cta < h.ctas; ++cta) {
    svg.text(left, y - 12, h.ctas == 1 ? "all 128 lanes" : fmt::format("all 128 lanes of CTA {}", cta), 12,
             "start", "#444444");
    for (int64_t lane = 0; lane < 128; ++lane)
      for (int64_t column = 0; column < columns; ++column) {
        const Word w =
            word_at(h, all, cta * layout::kCta + lane * layout::kLane + column * layout::kColumn, 4);
        svg.box(left + static_cast<double>(column) * tiny, y + static_cast<double>(lane) * 5, tiny, 5, w.fill,
                w.hover, "none");
      }
    for (int64_t part = 0; part <= 4; ++part) {
      svg.line(left - 6, y + static_cast<double>(part) * 160, left + static_cast<double>(columns) * tiny + 6,
               y + static_cast<double>(part) * 160, "#1a1a1a");
      if (part < 4)
        svg.text(left - 10, y + static_cast<double>(part) * 160 + 8, fmt::format("lane {}", 32 * part), 10,
                 "end");
    }
    if (cta + 1 < h.ctas) left += static_cast<double>(columns) * tiny + 90;
  }
  // Right: the first 32 lanes with anything (16 for the shapes that have no more), with indices.
  const int64_t shown = std::min<int64_t>(columns, kMostColumns);
  const double cell = 44;
  const double x0 = left + static_cast<double>(columns) * tiny + 90;
  svg.text(
      x0, y - 34,
      fmt::format("{}lanes {} to {}, columns 0 to {} of {}; a box is a 32-bit word, labelled with its "
                  "first element ({})",
                  h.ctas == 1 ? "" : "CTA 0, ", first, first + lanes - 1, shown - 1, columns, label_help(h)),
      12, "start", "#444444");
  for (int64_t column = 0; column < shown; ++column)
    svg.text(x0 + (static_cast<double>(column) + 0.5) * cell, y - 10, std::to_string(column), 11, "middle",
             "#444444");
  for (int64_t lane = first; lane < first + lanes; ++lane) {
    const double top = y + static_cast<double>(lane - first) * 20;
    svg.text(x0 - 8, top + 10, std::to_string(lane), 11, "end", "#444444");
    for (int64_t column = 0; column < shown; ++column) {
      const Word w = word_at(h, all, lane * layout::kLane + column * layout::kColumn, 4);
      svg.box(x0 + static_cast<double>(column) * cell, top, cell, 20, w.fill, w.hover);
      if (!w.label.empty())
        svg.text(x0 + (static_cast<double>(column) + 0.5) * cell, top + 10, w.label, 11, "middle");
    }
  }
}

void line_picture(Svg& svg, const Hardware& h, double y) {
  const std::map<int64_t, Tuple> all = by_offset(h);
  // Scales are seen by words, operands by the 16-byte chunks that a swizzle moves.
  const int64_t bytes = has_axis(h, "scale") ? 4 : 16;
  const int64_t units = bytes * 8 / h.unit_bits;
  const int64_t a_line = 128 / bytes;
  const int64_t lines = (h.region + a_line * units - 1) / (a_line * units);
  const int64_t shown = std::min(lines, kMostLines);
  const double cell = bytes == 4 ? 40 : 76;
  const double x0 = 90;
  svg.text(10, y - 34,
           fmt::format(
               "lines 0 to {} of {}, 128 bytes each; a box is {} bytes, labelled with its first element ({})",
               shown - 1, lines, bytes, label_help(h)),
           12, "start", "#444444");
  for (int64_t i = 0; i < a_line; ++i)
    svg.text(x0 + (static_cast<double>(i) + 0.5) * cell, y - 10, fmt::format("bank {}", i * bytes / 4), 10,
             "middle", "#444444");
  for (int64_t line = 0; line < shown; ++line) {
    const double top = y + static_cast<double>(line) * 20;
    svg.text(x0 - 8, top + 10, std::to_string(128 * line), 11, "end", "#444444");
    for (int64_t i = 0; i < a_line; ++i) {
      const Word w = word_at(h, all, (line * a_line + i) * units, units);
      svg.box(x0 + static_cast<double>(i) * cell, top, cell, 20, w.fill, w.hover);
      if (!w.label.empty())
        svg.text(x0 + (static_cast<double>(i) + 0.5) * cell, top + 10, w.label, 11, "middle");
    }
  }
}

}  // namespace

Tuple coordinate_of(const Hardware& h, int64_t index) {
  std::vector<Tuple> out;
  for (const layout::Axis& a : h.axes) {
    out.emplace_back(index % a.extent);
    index /= a.extent;
  }
  return Tuple(out);
}

std::string coordinate_text(const Hardware& h, const Tuple& c) {
  std::string out;
  for (size_t i = 0; i < h.axes.size(); ++i)
    out += fmt::format("{}{} {}", i > 0 ? ", " : "", h.axes[i].name, c.items[i].value);
  return out;
}

std::string address_text(const Hardware& h, int64_t offset) {
  if (h.space == layout::Space::tensor) {
    const layout::TensorAddress a = layout::tensor_address(offset);
    return fmt::format("{}lane {}, column {}, byte {}", h.ctas == 1 ? "" : fmt::format("CTA {}, ", a.cta),
                       a.lane, a.column, a.byte);
  }
  if (h.unit_bits >= 8) return fmt::format("byte {}", offset * h.unit_bits / 8);
  return fmt::format("byte {}, {} nibble", offset / 2, offset % 2 == 0 ? "low" : "high");
}

std::string picture(const Hardware& h) {
  Svg svg;
  double y = 24;
  heading(svg, h, y);
  y += 20;
  if (h.space == layout::Space::tensor)
    tensor_picture(svg, h, y);
  else
    line_picture(svg, h, y);
  return svg.document();
}

std::string picture(const std::vector<Composed>& layouts) {
  Svg svg;
  double x0 = 50;
  const auto extent = [](const Composed& c, size_t i) {
    return layout::rank(c.layout) == 1 ? (i == 0 ? 1 : layout::size(c.layout))
                                       : layout::size(layout::mode(c.layout, i));
  };
  for (size_t n = 0; n < layouts.size(); ++n) {
    const Composed& c = layouts[n];
    if (layout::rank(c.layout) > 2)
      throw layout::LayoutError("a picture shows one or two modes, " + layout::to_string(c) + " has more");
    const int64_t rows = extent(c, 0);
    const int64_t columns = extent(c, 1);
    if (rows > 256 || columns > 256)
      throw layout::LayoutError(layout::to_string(c) + ": a picture shows up to 256 by 256 cells");
    const double cell = 40;
    svg.text(x0, 20, layout::to_string(c), 14, "start", "#1a1a1a", true);
    const bool comparable = n > 0 && extent(layouts[0], 0) == rows && extent(layouts[0], 1) == columns;
    svg.text(x0, 33,
             std::string(layout::rank(c.layout) == 1 ? "across: coordinate; in a box: offset"
                                                     : "down: mode 0; across: mode 1; in a box: offset") +
                 (comparable ? "; red: not that of the first picture" : ""),
             10, "start", "#444444");
    for (int64_t j = 0; j < columns; ++j)
      svg.text(x0 + (static_cast<double>(j) + 0.5) * cell, 46, std::to_string(j), 11, "middle", "#444444");
    for (int64_t i = 0; i < rows; ++i) {
      const double top = 58 + static_cast<double>(i) * 24;
      svg.text(x0 - 8, top + 12, std::to_string(i), 11, "end", "#444444");
      for (int64_t j = 0; j < columns; ++j) {
        const Tuple coordinate = layout::rank(c.layout) == 1 ? Tuple(j) : Tuple(std::vector<Tuple>{i, j});
        const int64_t offset = c(coordinate);
        const bool moved = comparable && layouts[0](i + j * rows) != offset;
        const double left = x0 + static_cast<double>(j) * cell;
        svg.box(
            left, top, cell, 24, tint(static_cast<int>((offset % 8 + 8) % 8)),
            fmt::format("({}, {}) at offset {}{}", i, j, offset, moved ? ", elsewhere than on the left" : ""),
            moved ? "#c00000" : "#ffffff");
        svg.text(left + cell / 2, top + 12, std::to_string(offset), 11, "middle",
                 moved ? "#c00000" : "#1a1a1a");
      }
    }
    x0 += static_cast<double>(columns) * cell + 90;
  }
  return svg.document();
}

}  // namespace bitwell::cli
