// bitwell layout
#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/layout/banks.h"
#include "model/layout/expression.h"
#include "model/machine/failure.h"
#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/cli/picture/layout_picture.h"
#include "verify/launch/output/output_files.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::Column;
using terminal::note;
using terminal::table;
namespace {

using layout::Composed;
using layout::Hardware;
using layout::Tuple;

struct LayoutOptions {
  std::vector<std::string> what;
  layout::Parameters parameters;
  std::string svg;
  std::string at;
  int64_t rows = 16;
  bool json = false;
  bool banks = false;
  int64_t vector_bytes = 16;
  int64_t element_bits = 8;
  int64_t value = 0;
};

bool is_name(const std::string& text) {
  for (const layout::Named& n : layout::named_layouts())
    if (text == n.name) return true;
  return false;
}

// A word that is neither a named layout nor one of the functions, such as sfc-tmem; an expression otherwise.
void refuse_unknown_name(const std::string& text) {
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_') return;
  std::string names, functions;
  for (const layout::Named& n : layout::named_layouts())
    names += (names.empty() ? "" : ", ") + std::string(n.name);
  for (const std::string& f : layout::function_names()) {
    const std::string name = f.substr(0, f.find('('));
    if (text == name) return;
    functions += (functions.empty() ? "" : ", ") + name;
  }
  throw layout::LayoutError("no layout '" + text + "'; there are " + names + ", and the functions " +
                            functions);
}

void write_svg(launch::OutputFiles& files, const std::string& path, const std::string& document) {
  files.write(path, document);
  files.commit();
  note("picture -> " + path);
}

// Each leaf's share of an offset, then the swizzle's.
void explain_leaves(const Tuple& coordinate, const Tuple& shape, const Tuple& stride,
                    std::vector<std::vector<std::string>>& rows) {
  if (shape.is_tuple) {
    int64_t rest = coordinate.value;
    for (size_t i = 0; i < shape.items.size(); ++i) {
      const int64_t extent = layout::product(shape.items[i]);
      const bool last = i + 1 == shape.items.size();
      explain_leaves(coordinate.is_tuple ? coordinate.items[i] : Tuple(last ? rest : rest % extent),
                     shape.items[i], stride.items[i], rows);
      rest /= extent;
    }
    return;
  }
  rows.push_back({fmt::format("{}:{}", shape.value, stride.value), std::to_string(coordinate.value),
                  fmt::format("{} * {}", coordinate.value, stride.value),
                  std::to_string(coordinate.value * stride.value)});
}

// `text`: the coordinate as given.
void explain(const Composed& c, const std::string& text, const Hardware* h) {
  std::vector<std::vector<std::string>> rows;
  const int64_t index = [&] {
    try {
      return c.layout.index(layout::parse_coordinate(text));
    } catch (const layout::LayoutError& e) {
      throw layout::LayoutError("--at '" + text + "': " + e.what());
    }
  }();
  const Tuple coordinate = c.layout.coordinate(index);
  const int64_t plain = c.layout(coordinate);
  explain_leaves(coordinate, c.layout.shape(), c.layout.stride(), rows);
  fmt::print("\ncoordinate {}:\n{}", layout::to_string(coordinate),
             table({{"mode"}, {"coordinate", true}, {"coordinate * stride"}, {"offset", true}}, rows));
  fmt::print("sum {}", plain);
  if (c.offset != 0) fmt::print(", and the offset {}: {}", c.offset, plain + c.offset);
  if (c.swizzle) {
    const int64_t before = plain + c.offset;
    const int64_t after = (*c.swizzle)(before);
    fmt::print("\nS<{},{},{}>: {:b} xor {:b} = {:b}: {}", c.swizzle->bits, c.swizzle->base, c.swizzle->shift,
               before, before ^ after, after, after);
  }
  fmt::print("\n");
  if (h != nullptr)
    fmt::print("{} stands at {}\n", coordinate_text(*h, coordinate_of(*h, index)),
               address_text(*h, c(coordinate)));
}

void show_banks(const LayoutOptions& o, const Composed& c) {
  const layout::BankReport r = layout::bank_conflicts(c, o.value, o.element_bits, o.vector_bytes);
  std::vector<std::vector<std::string>> rows;
  for (const layout::BankPhase& p : r.phases) {
    std::string threads;
    if (p.ways > 1)
      for (const int t : p.threads) threads += (threads.empty() ? "" : " ") + std::to_string(t);
    rows.push_back(
        {fmt::format("{} to {}", p.first_thread, p.first_thread + static_cast<int>(128 / o.vector_bytes) - 1),
         std::to_string(p.ways), p.ways > 1 ? std::to_string(p.bank) : "-", p.ways > 1 ? threads : "none"});
  }
  fmt::print("\n{} bytes a thread, value {} of each: {} wavefronts, {} without conflicts\n{}", o.vector_bytes,
             o.value, r.wavefronts, r.ideal,
             table({{"threads"}, {"ways", true}, {"bank", true}, {"threads on it"}}, rows));
}

nlohmann::json facts(const Composed& c) {
  const bool checked = layout::size(c.layout) <= layout::kMostOffsets;
  const bool injective = checked && !layout::collision(c.layout).has_value();
  return {{"layout", layout::to_string(c)},
          {"size", layout::size(c.layout)},
          {"cosize", layout::cosize(c.layout)},
          {"injective", checked ? nlohmann::json(injective) : nlohmann::json()}};  // null: too large to check
}

void show_named(const LayoutOptions& o, const std::string& name, launch::OutputFiles& files) {
  const Hardware h = layout::named_layout(name, o.parameters);
  if (o.banks) throw layout::LayoutError("--banks takes a thread-value layout, an expression");
  int64_t count = 1;
  for (const layout::Axis& a : h.axes) count *= a.extent;
  const auto coordinate = [&](int64_t i) { return coordinate_of(h, i); };
  if ((o.json || !o.svg.empty() || o.rows > layout::kMostOffsets) && count > layout::kMostOffsets)
    throw layout::LayoutError(fmt::format("{} has {} coordinates, more than the {} that are listed or drawn",
                                          name, count, layout::kMostOffsets));
  if (o.json) {
    nlohmann::json j = facts(h.layout);
    j["name"] = h.name;
    for (const layout::Axis& a : h.axes) j["axes"].push_back({{"name", a.name}, {"extent", a.extent}});
    j["source"] = h.source;
    j["evidence"] = h.evidence;
    j["notes"] = h.notes;
    j["unit_bits"] = h.unit_bits;
    j[h.space == layout::Space::tensor ? "columns" : "region"] = h.region;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t offset = h.layout(coordinate(i));
      j["offsets"].push_back(offset);
      if (h.space != layout::Space::tensor) continue;
      const layout::TensorAddress a = layout::tensor_address(offset);
      j["cells"].push_back({{"cta", a.cta}, {"lane", a.lane}, {"column", a.column}, {"byte", a.byte}});
    }
    fmt::print("{}\n", strict_json::dumped(j));
  } else {
    fmt::print("{}\n{}\n", h.name, layout::to_string(h.layout));
    if (h.space == layout::Space::tensor)
      fmt::print("{} columns of tensor memory\n", h.region);
    else
      fmt::print("{} bytes\n", h.region * h.unit_bits / 8);
    fmt::print("source: {}\nevidence: {}\n", h.source, h.evidence);
    for (const std::string& n : h.notes) fmt::print("note: {}\n", n);
    std::vector<Column> titles;
    for (const layout::Axis& a : h.axes) titles.push_back({a.name, true});
    titles.push_back({"address"});
    std::vector<std::vector<std::string>> rows;
    for (int64_t i = 0; i < std::min(count, o.rows); ++i) {
      const Tuple c = coordinate(i);
      std::vector<std::string> row;
      for (const Tuple& v : c.items) row.push_back(std::to_string(v.value));
      row.push_back(address_text(h, h.layout(c)));
      rows.push_back(std::move(row));
    }
    fmt::print("\n{}", table(titles, rows));
    if (count > o.rows)
      fmt::print("... {} coordinates in all (--lines {}, or --json, --svg FILE)\n", count, count);
    if (!o.at.empty()) explain(h.layout, o.at, &h);
  }
  if (!o.svg.empty()) write_svg(files, o.svg, picture(h));
}

constexpr int64_t kMostDown = 64, kMostAcross = 32;  // of a table on a terminal

void grid(const Composed& c) {
  const int64_t rows = layout::rank(c.layout) == 1 ? 1 : layout::size(layout::mode(c.layout, 0));
  const int64_t columns =
      layout::rank(c.layout) == 1 ? layout::size(c.layout) : layout::size(layout::mode(c.layout, 1));
  if (layout::rank(c.layout) > 2) {
    fmt::print("  no table: it has {} modes, a table shows one or two; --at COORDINATE shows one element\n",
               layout::rank(c.layout));
    return;
  }
  if (rows > kMostDown || columns > kMostAcross) {
    fmt::print(
        "  no table of {} x {}: one has at most {} x {}; --svg FILE draws more, --at COORDINATE shows one "
        "element\n",
        rows, columns, kMostDown, kMostAcross);
    return;
  }
  std::vector<Column> titles{{"", true}};
  for (int64_t j = 0; j < columns; ++j) titles.push_back({std::to_string(j), true});
  std::vector<std::vector<std::string>> lines;
  for (int64_t i = 0; i < rows; ++i) {
    lines.push_back({std::to_string(i)});
    for (int64_t j = 0; j < columns; ++j)
      lines.back().push_back(
          std::to_string(layout::rank(c.layout) == 1 ? c(j) : c(std::vector<Tuple>{i, j})));
  }
  fmt::print("\n{}", table(titles, lines));
}

void show_expressions(const LayoutOptions& o, launch::OutputFiles& files) {
  if (!o.parameters.empty())
    throw layout::LayoutError("'--" + o.parameters.begin()->first + "' is a parameter of named layouts; '" +
                              o.what[0] + "' is an expression");
  std::vector<Composed> all;
  for (const std::string& text : o.what) {
    if (is_name(text))
      throw layout::LayoutError("'" + text + "' is a named layout: two expressions can be compared");
    refuse_unknown_name(text);
    const layout::Value v = [&] {
      try {
        return layout::evaluate(text);
      } catch (const layout::LayoutError& e) {
        throw layout::LayoutError("'" + text + "'" +
                                  (e.column > 0 ? ", column " + std::to_string(e.column) : "") + ": " +
                                  e.what());
      }
    }();
    if (const auto* n = std::get_if<int64_t>(&v)) {
      fmt::print("{}\n", *n);
      continue;
    }
    const Composed& c = std::get<Composed>(v);
    const nlohmann::json j = facts(c);
    if (o.json) {
      fmt::print("{}\n", strict_json::dumped(j));
    } else {
      fmt::print("{}    size {}, cosize {}, {}\n", layout::to_string(c), layout::size(c.layout),
                 layout::cosize(c.layout),
                 j["injective"].is_null()     ? "too large to check for injectivity"
                 : j["injective"].get<bool>() ? "injective"
                                              : "not injective");
      grid(c);
      if (!o.at.empty()) explain(c, o.at, nullptr);
      if (o.banks) show_banks(o, c);
    }
    all.push_back(c);
  }
  if (all.size() == 2 && layout::size(all[0].layout) <= layout::kMostOffsets &&
      layout::size(all[0].layout) == layout::size(all[1].layout) && !o.json) {
    int64_t moved = 0;
    for (int64_t i = 0; i < layout::size(all[0].layout); ++i) moved += all[0](i) != all[1](i) ? 1 : 0;
    fmt::print("\n{} of {} elements have another offset in the second\n", moved, layout::size(all[0].layout));
  }
  if (!o.svg.empty() && all.empty()) throw layout::LayoutError("--svg draws layouts, not numbers");
  if (!o.svg.empty()) write_svg(files, o.svg, picture(all));
}

std::string names_help() {
  std::string out = "Named layouts and their parameters:\n";
  for (const layout::Named& n : layout::named_layouts()) {
    out += fmt::format("  {:<13} {}\n", n.name, n.summary);
    for (const layout::ParameterHelp& p : n.parameters)
      out += fmt::format("      --{:<9} {} [{}]\n", p.name, p.what, p.preset);
  }
  out +=
      "\nExpressions are what CuTe prints, (4,(2,8)):(8,(1,32)) or S<3,4,3> o 0 o (8,64):(64,1), and "
      "calls:\n";
  std::string line = "  ";
  for (const std::string& f : layout::function_names()) {
    if (line.size() + f.size() > 100) {
      out += line + "\n";
      line = "  ";
    }
    line += f + "  ";
  }
  return out + line +
         "\n  A tiler is a layout, or one a mode in brackets: logical_divide((16,32), [4:1, 8:1])\n\n"
         "Examples:\n"
         "  bitwell layout sfb-tmem --n 192 --tile 1 --svg sfb.svg\n"
         "  bitwell layout operand-smem --rows 128 --at 3,64\n"
         "  bitwell layout 'S<3,4,3> o 0 o (8,128):(128,1)' --at 3,16\n"
         "  bitwell layout '(32,4):(32,1)' --banks --vector 16 --element-bits 32\n"
         "  bitwell layout '(8,8):(8,1)' 'S<3,0,3> o 0 o (8,8):(8,1)' --svg compare.svg";
}

}  // namespace

void add_layout(CLI::App& app, int&) {
  CLI::App* command = app.add_subcommand("layout", "Show a CuTe layout, or a layout that the hardware fixes");
  auto o = std::make_shared<LayoutOptions>();
  command->add_option("LAYOUT", o->what, "An expression, two to compare, or a name")
      ->required()
      ->expected(1, 2);
  command->add_option("--svg", o->svg, "Write a picture to this file");
  command->add_option("--at", o->at, "Explain the offset of one coordinate, as 5,2");
  command->add_option("--lines", o->rows, "Lines of a named layout's table")
      ->check(whole(0, layout::kMostOffsets))
      ->capture_default_str();
  command->add_flag("--json", o->json, "As JSON, with every offset of a named layout");
  CLI::Option* banks = command->add_flag("--banks", o->banks,
                                         "Bank conflicts of a (32 threads, values) layout of shared memory");
  command->add_option("--vector", o->vector_bytes, "With --banks: bytes a thread moves at once")
      ->check(CLI::IsMember({4, 8, 16}))
      ->capture_default_str()
      ->needs(banks);
  command->add_option("--element-bits", o->element_bits, "With --banks: bits of an element")
      ->check(whole(1, 1024))
      ->capture_default_str()
      ->needs(banks);
  command->add_option("--value", o->value, "With --banks: which value of each thread")
      ->check(whole(0, layout::kMostOffsets))
      ->capture_default_str()
      ->needs(banks);
  // One option for every parameter that a named layout has.
  std::map<std::string, std::string> described;
  for (const layout::Named& n : layout::named_layouts())
    for (const layout::ParameterHelp& p : n.parameters) described.emplace(p.name, p.what);
  for (const auto& [name, what] : described) {
    const std::string key = name;
    command
        ->add_option_function<std::string>(
            "--" + key, [o, key](const std::string& v) { o->parameters[key] = v; }, what)
        ->group("Parameters of named layouts");
  }
  command->footer(names_help());
  command->callback([o] {
    try {
      if (o->json && (o->banks || !o->at.empty()))
        throw layout::LayoutError("--at and --banks explain to a reader: they do not go with --json");
      launch::OutputFiles files;
      if (!o->svg.empty()) files.plan(o->svg, "--svg");
      if (o->what.size() == 1 && is_name(o->what[0])) {
        show_named(*o, o->what[0], files);
      } else {
        show_expressions(*o, files);
      }
    } catch (const layout::LayoutError& e) {
      throw machine::InputError(e.what());
    }
  });
}

}  // namespace bitwell::cli
