#include "model/layout/expression.h"

#include <cctype>
#include <charconv>
#include <functional>

namespace bitwell::layout {
namespace {

// A parsed argument before anyone decides what it is: `8` is an integer, a shape and a layout.
struct Argument {
  std::optional<Tuple> tuple;  // written without strides
  std::optional<Composed> layout;
  std::optional<Tiler> tiler;
  std::optional<int64_t> number;  // the result of size or cosize
  int column = 0;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Value whole() {
    Argument a = argument();
    if (at_ < text_.size()) fail("expected the end");
    if (a.number) return *a.number;
    if (a.tiler && !a.tiler->layout) throw LayoutError("a tiler is not a layout", a.column);
    return composed(a);
  }

  Tuple coordinate() {
    std::vector<Tuple> items;
    do items.push_back(tuple_text());
    while (accept(','));
    if (at_ < text_.size()) fail("expected ',' or the end");
    for (const Tuple& t : items)
      for (const int64_t v : flatten(t))
        if (v < 0) throw LayoutError("a negative coordinate", 1);
    return items.size() == 1 ? items[0] : Tuple(std::move(items));
  }

  [[noreturn]] void fail(const std::string& expected) const {
    const std::string found = at_ < text_.size() ? "'" + std::string(1, text_[at_]) + "'" : "the end";
    throw LayoutError(expected + ", found " + found, static_cast<int>(at_) + 1);
  }

  // An error of the algebra, at the argument's column.
  template <typename F>
  static auto guarded(const Argument& a, const F& f) {
    try {
      return f();
    } catch (const LayoutError& e) {
      throw LayoutError(e.what(), e.column != 0 ? e.column : a.column);
    }
  }

  // Conversions that the functions ask for.
  static Composed composed(const Argument& a) {
    if (a.layout) return *a.layout;
    if (a.tuple) return guarded(a, [&] { return Composed{{}, 0, Layout::compact(*a.tuple)}; });
    throw LayoutError("expected a layout", a.column);
  }
  static Layout plain(const Argument& a) {
    Composed c = composed(a);
    if (c.swizzle || c.offset != 0) throw LayoutError("expected a layout without a swizzle", a.column);
    return std::move(c.layout);
  }
  static int64_t integer(const Argument& a) {
    if (a.number) return *a.number;
    if (a.tuple && !a.tuple->is_tuple) return a.tuple->value;
    throw LayoutError("expected an integer", a.column);
  }
  static Tuple tuple(const Argument& a) {
    if (a.number) return *a.number;
    if (a.tuple) return *a.tuple;
    throw LayoutError("expected a shape", a.column);
  }
  static Tiler tiler(const Argument& a) { return a.tiler ? *a.tiler : Tiler(plain(a)); }

 private:
  struct Deeper {
    explicit Deeper(Parser& p) : parser(p) {
      if (++parser.depth_ > 64) parser.fail("expected less nesting");
    }
    ~Deeper() { --parser.depth_; }
    Parser& parser;
  };

  void blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool is(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    if (!is(c)) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "'");
  }
  bool at_number() {
    blanks();
    size_t i = at_;
    if (i < text_.size() && (text_[i] == '_' || text_[i] == '-')) ++i;
    return i < text_.size() && std::isdigit(static_cast<unsigned char>(text_[i])) != 0;
  }

  int64_t number() {
    if (!at_number()) fail("expected an integer");
    if (text_[at_] == '_') ++at_;
    int64_t v = 0;
    const auto r = std::from_chars(text_.data() + at_, text_.data() + text_.size(), v);
    if (r.ec != std::errc()) throw LayoutError("an integer beyond 63 bits", static_cast<int>(at_) + 1);
    at_ = static_cast<size_t>(r.ptr - text_.data());
    blanks();
    return v;
  }

  // tuple = integer | "(" tuple ("," tuple)* ")"
  Tuple tuple_text() {
    const Deeper deeper(*this);
    if (!accept('(')) return number();
    std::vector<Tuple> items;
    do items.push_back(tuple_text());
    while (accept(','));
    expect(')');
    blanks();
    return items;
  }

  std::string name() {
    blanks();
    const size_t from = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(from, at_ - from));
  }

  Argument argument() {
    const Deeper deeper(*this);
    blanks();
    Argument out;
    out.column = static_cast<int>(at_) + 1;
    if (accept('[')) {
      std::vector<Tiler> modes;
      do {
        blanks();
        if (is('_') && !at_number()) {
          ++at_;
          modes.push_back(Tiler::nothing());
        } else {
          modes.push_back(tiler(argument()));
        }
      } while (accept(','));
      expect(']');
      out.tiler = Tiler(std::move(modes));
    } else if (is('(') || at_number()) {
      Tuple shape = tuple_text();
      if (accept(':')) {
        Tuple stride = tuple_text();
        out.layout = guarded(out, [&] { return Composed{{}, 0, Layout(shape, stride)}; });
      } else {
        out.tuple = std::move(shape);
      }
    } else if (at_ < text_.size() && std::isalpha(static_cast<unsigned char>(text_[at_])) != 0) {
      const std::string word = name();
      if (word == "S" || word == "Sw")
        out.layout = swizzled();
      else
        out = call(word, out.column);
    } else {
      fail("expected a layout, a shape or a function");
    }
    blanks();
    return out;
  }

  // swizzled = "S<" bits "," base "," shift ">" "o" offset "o" layout
  Composed swizzled() {
    const int column = static_cast<int>(at_) + 1;
    expect('<');
    const int64_t bits = number();
    expect(',');
    const int64_t base = number();
    expect(',');
    const int64_t shift = number();
    expect('>');
    if (bits < 0 || base < 0 || bits > 62 || base > 62 || shift > 62 || shift < -62 ||
        bits + base + std::abs(shift) > 62 || (bits > 0 && std::abs(shift) < bits))
      throw LayoutError("a swizzle needs bits >= 0, base >= 0 and |shift| >= bits", column);
    const auto o = [&] {
      if (name() != "o") fail("expected 'o'");
    };
    o();
    const int64_t offset = number();
    o();
    const Argument inner = argument();
    return {Swizzle{static_cast<int>(bits), static_cast<int>(base), static_cast<int>(shift)}, offset,
            plain(inner)};
  }

  Argument call(const std::string& word, int column);

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
};

using Arguments = std::vector<Argument>;
struct Function {
  const char* name;
  const char* arguments;
  size_t least, most;
  std::function<std::variant<Composed, int64_t>(const Arguments&)> apply;
};

Composed made(Layout l) { return {{}, 0, std::move(l)}; }

const std::vector<Function>& functions() {
  using P = Parser;
  // A function of a layout and a tiler.
  const auto tiled = [](const char* name, Layout (*f)(const Layout&, const Tiler&)) {
    return Function{name, "layout, tiler", 2, 2,
                    [f](const Arguments& a) { return made(f(P::plain(a[0]), P::tiler(a[1]))); }};
  };
  const auto unary = [](const char* name, Layout (*f)(const Layout&)) {
    return Function{name, "layout", 1, 1, [f](const Arguments& a) { return made(f(P::plain(a[0]))); }};
  };
  const auto scaled = [](const char* name, Layout (*f)(const Layout&, int64_t)) {
    return Function{name, "layout, n", 2, 2,
                    [f](const Arguments& a) { return made(f(P::plain(a[0]), P::integer(a[1]))); }};
  };
  static const std::vector<Function> all{
      {"size", "layout", 1, 1, [](const Arguments& a) { return size(P::composed(a[0]).layout); }},
      {"cosize", "layout", 1, 1, [](const Arguments& a) { return cosize(P::composed(a[0]).layout); }},
      {"coalesce", "layout[, profile]", 1, 2,
       [](const Arguments& a) {
         return made(a.size() == 1 ? coalesce(P::plain(a[0])) : coalesce(P::plain(a[0]), P::tuple(a[1])));
       }},
      unary("filter", filter),
      unary("filter_zeros", filter_zeros),
      {"composition", "layout, tiler", 2, 2,
       [](const Arguments& a) {
         // A swizzled left side keeps its swizzle: the inner layout is composed.
         Composed left = P::composed(a[0]);
         left.layout = composition(left.layout, P::tiler(a[1]));
         return left;
       }},
      {"complement", "layout[, cotarget]", 1, 2,
       [](const Arguments& a) {
         return made(a.size() == 1 ? complement(P::plain(a[0])) : complement(P::plain(a[0]), P::tuple(a[1])));
       }},
      unary("right_inverse", right_inverse),
      unary("left_inverse", left_inverse),
      tiled("logical_divide", logical_divide),
      tiled("zipped_divide", zipped_divide),
      tiled("tiled_divide", tiled_divide),
      tiled("flat_divide", flat_divide),
      tiled("logical_product", logical_product),
      tiled("zipped_product", zipped_product),
      tiled("tiled_product", tiled_product),
      tiled("flat_product", flat_product),
      {"blocked_product", "block, layout", 2, 2,
       [](const Arguments& a) { return made(blocked_product(P::plain(a[0]), P::plain(a[1]))); }},
      {"raked_product", "block, layout", 2, 2,
       [](const Arguments& a) { return made(raked_product(P::plain(a[0]), P::plain(a[1]))); }},
      {"tile_to_shape", "block, shape[, order]", 2, 3,
       [](const Arguments& a) {
         Composed block = P::composed(a[0]);
         block.layout = tile_to_shape(block.layout, P::tuple(a[1]),
                                      a.size() == 3 ? std::optional(P::tuple(a[2])) : std::nullopt);
         return block;
       }},
      scaled("upcast", upcast),
      scaled("downcast", downcast),
      {"recast", "layout, old bits, new bits", 3, 3,
       [](const Arguments& a) { return made(recast(P::plain(a[0]), P::integer(a[1]), P::integer(a[2]))); }},
  };
  return all;
}

Argument Parser::call(const std::string& word, int column) {
  for (const Function& f : functions()) {
    if (word != f.name) continue;
    expect('(');
    Arguments arguments;
    do arguments.push_back(argument());
    while (accept(','));
    expect(')');
    if (arguments.size() < f.least || arguments.size() > f.most)
      throw LayoutError("expected " + std::string(f.name) + "(" + f.arguments + ")", column);
    Argument out;
    out.column = column;
    const auto result = guarded(out, [&] { return f.apply(arguments); });
    if (const auto* n = std::get_if<int64_t>(&result))
      out.number = *n;
    else
      out.layout = std::get<Composed>(result);
    return out;
  }
  std::string known;
  for (const Function& f : functions()) known += (known.empty() ? "" : ", ") + std::string(f.name);
  throw LayoutError("unknown function '" + word + "'; there are " + known, column);
}

}  // namespace

Value evaluate(std::string_view text) { return Parser(text).whole(); }

Tuple parse_coordinate(std::string_view text) { return Parser(text).coordinate(); }

Composed parse_composed(std::string_view text) {
  const Value v = evaluate(text);
  if (const auto* c = std::get_if<Composed>(&v)) return *c;
  throw LayoutError("expected a layout, found a number", 1);
}

Layout parse_layout(std::string_view text) {
  Composed c = parse_composed(text);
  if (c.swizzle || c.offset != 0) throw LayoutError("expected a layout without a swizzle", 1);
  return std::move(c.layout);
}

std::vector<std::string> function_names() {
  std::vector<std::string> out;
  for (const Function& f : functions()) out.push_back(std::string(f.name) + "(" + f.arguments + ")");
  return out;
}

std::string to_string(const Composed& c) {
  if (!c.swizzle && c.offset == 0) return to_string(c.layout);
  const Swizzle s = c.swizzle.value_or(Swizzle{0, 0, 0});
  return "S<" + std::to_string(s.bits) + "," + std::to_string(s.base) + "," + std::to_string(s.shift) +
         "> o " + std::to_string(c.offset) + " o " + to_string(c.layout);
}

}  // namespace bitwell::layout
