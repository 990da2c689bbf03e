#include "verify/image/lines.h"

#include <elf.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace bitwell::image {
namespace {

// Bytes one behind the other; once one is missing, all that follows is 0.
class Bytes {
 public:
  explicit Bytes(std::string_view all) : all_(all) {}

  template <class T>
  T take() {
    T out{};
    if (all_.size() - at_ < sizeof out) return fail<T>();
    std::memcpy(&out, all_.data() + at_, sizeof out);
    at_ += sizeof out;
    return out;
  }
  // LEB128.
  uint64_t number() {
    uint64_t out = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) out |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return out;
    }
  }
  int64_t signed_number() {
    uint64_t out = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) out |= uint64_t{byte & 0x7fu} << shift;
      if (byte >= 0x80) continue;
      if ((byte & 0x40) != 0 && shift + 7 < 64) out |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(out);
    }
  }
  std::string_view text() {
    const size_t end = all_.find('\0', at_);
    if (end == std::string_view::npos) return fail<std::string_view>();
    const std::string_view out = all_.substr(at_, end - at_);
    at_ = end + 1;
    return out;
  }
  void go_to(uint64_t at) { at_ = at > all_.size() ? fail<size_t>(), all_.size() : static_cast<size_t>(at); }
  uint64_t at() const { return at_; }
  bool more() const { return at_ < all_.size(); }
  bool whole() const { return whole_; }

 private:
  template <class T>
  T fail() {
    at_ = all_.size();
    whole_ = false;
    return {};
  }
  std::string_view all_;
  size_t at_ = 0;
  bool whole_ = true;
};

// An instruction of machine code: the section that it is in, and its address there.
using Address = std::pair<uint32_t, uint64_t>;

struct Row {
  uint32_t file = 0;  // number of a name, the first is 1
  int64_t line = 0;
  uint32_t caller = 0;  // number of the row that it is inlined at, the first is 1; 0: none
};

// Of one function: rows in their order, and for each address the last of them.
struct Sequence {
  std::vector<Row> rows;
  std::map<Address, size_t> at;
};

struct Table {
  std::vector<std::string> files;
  std::vector<Sequence> sequences;
};

// Which section an address that stands at this byte of a table is in.
std::map<uint64_t, uint32_t> sections_of(std::string_view relocations, std::string_view symbols) {
  std::map<uint64_t, uint32_t> out;
  for (Bytes in(relocations); in.more();) {
    const auto r = in.take<Elf64_Rela>();
    Bytes all(symbols);
    all.go_to(ELF64_R_SYM(r.r_info) * sizeof(Elf64_Sym));
    const auto symbol = all.take<Elf64_Sym>();
    if (in.whole() && all.whole()) out[r.r_offset] = symbol.st_shndx;
  }
  return out;
}

// A line number program (DWARF 2, 6.2) with NVIDIA's opcode for inlined calls, whose numbers are those of
// rows of the same function. Nothing where it is another version or broken.
std::optional<Table> read(std::string_view section, std::string_view relocations, std::string_view symbols) {
  enum { copy = 1, advance_pc, advance_line, set_file, set_column, const_add_pc = 8, fixed_advance_pc };
  enum { end_sequence = 1, set_address, inlined_call = 0x90 };
  const std::map<uint64_t, uint32_t> places = sections_of(relocations, symbols);
  Table out;
  for (Bytes in(section); in.more();) {
    const auto length = in.take<uint32_t>();
    const uint64_t end = in.at() + length;
    const auto version = in.take<uint16_t>();
    const auto header = in.take<uint32_t>();
    const uint64_t program = in.at() + header;
    const auto step = in.take<uint8_t>();
    in.take<uint8_t>();  // is_stmt at first
    const auto line_base = in.take<int8_t>();
    const auto line_range = in.take<uint8_t>();
    const auto first_special = in.take<uint8_t>();
    if (version < 2 || version > 3 || line_range == 0 || first_special == 0) return std::nullopt;
    std::vector<uint8_t> operands{0};
    for (int i = 1; i < first_special; ++i) operands.push_back(in.take<uint8_t>());
    std::vector<std::string> folders{""};
    for (std::string_view name; !(name = in.text()).empty();) folders.push_back(std::string(name) + "/");
    const auto before = static_cast<uint32_t>(out.files.size());
    for (std::string_view name; !(name = in.text()).empty();) {
      const uint64_t folder = in.number();
      in.number();  // when it was changed
      in.number();  // its length
      out.files.push_back((folder < folders.size() && !name.starts_with('/') ? folders[folder] : "") +
                          std::string(name));
    }
    // What lies elsewhere than it says is not followed: everything read lies behind what was read before.
    if (end > section.size() || program > end || in.at() > program) return std::nullopt;
    in.go_to(program);
    Address address{0, 0};
    Row row{before + 1, 1, 0};
    Sequence sequence;
    const auto advance = [&](int64_t by) {  // may wrap, in a broken file
      row.line = static_cast<int64_t>(static_cast<uint64_t>(row.line) + static_cast<uint64_t>(by));
    };
    const auto add = [&] {
      sequence.rows.push_back(row);
      if (address.first != 0) sequence.at[address] = sequence.rows.size() - 1;
    };
    while (in.at() < end && in.whole()) {
      const auto op = in.take<uint8_t>();
      if (op >= first_special) {
        const int by = op - first_special;
        address.second += uint64_t{step} * static_cast<unsigned>(by / line_range);
        advance(line_base + by % line_range);
        add();
      } else if (op == 0) {
        const uint64_t size = in.number(), next = in.at() + size;
        if (size > section.size()) return std::nullopt;
        const auto extended = in.take<uint8_t>();
        if (extended == end_sequence) {
          out.sequences.push_back(std::exchange(sequence, {}));
          address = {0, 0};
          row = {before + 1, 1, 0};
        } else if (extended == set_address) {
          const auto place = places.find(in.at());
          address = {place == places.end() ? 0 : place->second, in.take<uint64_t>()};
        } else if (extended == inlined_call) {
          row.caller = static_cast<uint32_t>(in.number());
        }
        in.go_to(next);
      } else if (op == copy) {
        add();
      } else if (op == advance_pc) {
        address.second += step * in.number();
      } else if (op == advance_line) {
        advance(in.signed_number());
      } else if (op == set_file) {
        row.file = before + static_cast<uint32_t>(in.number());
      } else if (op == const_add_pc) {
        address.second += uint64_t{step} * static_cast<unsigned>((255 - first_special) / line_range);
      } else if (op == fixed_advance_pc) {
        address.second += in.take<uint16_t>();
      } else {
        for (int i = 0; i < operands[op]; ++i) in.number();
      }
    }
    if (!in.whole()) return std::nullopt;
    in.go_to(end);
  }
  return out;
}

// The label that stands for the names of inlined functions, which are not known: ptxas wants one.
constexpr std::string_view kInlined = "$L__info_string_inlined";

// ".loc 1 59 7", and in front of it what that is inlined at, unless `alone`. Its column is its number, which
// tells apart what was inlined at one line for different callers.
std::string directives(const Table& table, const Sequence& sequence, size_t row, bool alone) {
  constexpr size_t most = 64;
  std::vector<size_t> chain{row};  // the innermost first
  for (uint32_t caller = sequence.rows[row].caller; caller != 0 && !alone && chain.size() < most;) {
    // A caller stands in front of what it calls.
    if (caller > chain.back()) return "";
    chain.push_back(caller - 1);
    caller = sequence.rows[caller - 1].caller;
  }
  std::string out, inlined_at;
  while (!chain.empty()) {
    const Row& r = sequence.rows[chain.back()];
    if (r.file == 0 || r.file > table.files.size() || r.line < 1 || r.line > INT32_MAX) return "";
    const std::string place =
        std::to_string(r.file) + " " + std::to_string(r.line) + " " + std::to_string(chain.back() + 1);
    out += ".loc " + place + inlined_at + " ";
    inlined_at = ", function_name " + std::string(kInlined) + ", inlined_at " + place;
    chain.pop_back();
  }
  return out;
}

// A text by its lines. What stands between two empty ones has one place, which a .loc said in the first of
// them.
struct Text {
  static constexpr size_t none = ~size_t{0};
  std::vector<std::string> lines;
  std::vector<size_t> empty;  // of each line the empty one in front of it, in which a statement may begin
};

Text text_by_lines(const std::string& text) {
  Text out;
  size_t empty = Text::none;
  int depth = 0;
  bool between = true;  // statements
  char before = ';';    // the last that is no blank
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    for (const char c : line.substr(0, line.find("//"))) {
      if (c == ' ' || c == '\t' || c == '\r') continue;
      // A block stands behind statements or the head of a function, braces of operands and values behind
      // names.
      const bool behind = before == ';' || before == ':' || before == '{' || before == '}';
      const bool block = c == '}' || depth != 0 ? behind : before != '=';
      if (block && (c == '{' || c == '}')) depth += c == '{' ? 1 : -1;
      between = c == ';' || c == ':' || (block && (c == '{' || c == '}'));
      before = c == '}' && !block ? ',' : c;
    }
    if (depth == 0) empty = Text::none;
    if (depth != 0 && between && line.find_first_not_of(" \t\r") == std::string_view::npos)
      empty = out.lines.size();
    out.lines.emplace_back(line);
    out.empty.push_back(empty);
  }
  return out;
}

// By number of the empty line.
std::map<size_t, std::string> directives_of(const Table& cuda, const Table& ptx, const Text& text) {
  std::map<uint32_t, std::vector<const Sequence*>> in_section;
  for (const Sequence& s : cuda.sequences)
    if (!s.at.empty()) in_section[s.at.begin()->first.first].push_back(&s);
  std::map<size_t, std::string> out;
  for (const Sequence& lines : ptx.sequences) {
    const auto empty = [&](size_t row) {
      const int64_t line = lines.rows[row].line;
      return line < 1 || static_cast<uint64_t>(line) > text.empty.size()
                 ? Text::none
                 : text.empty[static_cast<size_t>(line) - 1];
    };
    for (const auto& [address, row] : lines.at) {
      const size_t to = empty(row);
      if (to == Text::none) continue;
      for (const Sequence* s : in_section[address.first]) {
        auto at = s->at.upper_bound(address);
        if (at == s->at.begin() || (--at)->first.first != address.first) continue;
        // ptxas begins no row where code of one line follows that was inlined elsewhere.
        const auto first = lines.at.find(at->first);
        const bool certain = at->first == address || (first != lines.at.end() && empty(first->second) == to);
        std::string& known = out[to];
        if (certain || known.empty()) {
          std::string found = directives(cuda, *s, at->second, !certain);
          if (!found.empty()) known = std::move(found);
        }
      }
    }
  }
  return out;
}

}  // namespace

std::string with_cuda_lines(std::string text, const LineSections& sections) {
  const auto cuda = read(sections.cuda, sections.cuda_relocations, sections.symbols),
             ptx = read(sections.ptx, sections.ptx_relocations, sections.symbols);
  if (!cuda || !ptx) return text;
  for (const std::string& file : cuda->files)
    if (file.find_first_of("\"\\\n") != std::string::npos) return text;
  Text lines = text_by_lines(text);
  const std::map<size_t, std::string> known = directives_of(*cuda, *ptx, lines);
  if (known.empty()) return text;
  bool located = false;
  for (size_t i = 0; i < lines.lines.size(); ++i) {
    if (lines.empty[i] == Text::none) located = false;
    if (lines.empty[i] != i) continue;
    const auto place = known.find(i);
    const bool is = place != known.end() && !place->second.empty();
    if (is || located) lines.lines[i] = is ? place->second : ".loc 1 0 0";
    located = is;
  }
  std::string out;
  for (const std::string& line : lines.lines) out += line + "\n";
  if (out.find(kInlined) != std::string::npos)
    out += ".section .debug_str\n{\n" + std::string(kInlined) + ":\n.b8 0\n}\n";
  for (size_t i = 0; i < cuda->files.size(); ++i)
    out += ".file " + std::to_string(i + 1) + " \"" + cuda->files[i] + "\"\n";
  return out;
}

}  // namespace bitwell::image
