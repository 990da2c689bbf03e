#include "verify/image/line_table.h"

#include <elf.h>

#include <cstring>

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

}  // namespace

std::optional<LineTable> line_table(std::string_view section, std::string_view relocations,
                                    std::string_view symbols) {
  enum { copy = 1, advance_pc, advance_line, set_file, set_column, const_add_pc = 8, fixed_advance_pc };
  enum { end_sequence = 1, set_address, inlined_call = 0x90 };
  const std::map<uint64_t, uint32_t> places = sections_of(relocations, symbols);
  LineTable out;
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
    CodeAddress address{0, 0};
    LineRow row{before + 1, 1, 0};
    LineSequence sequence;
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

}  // namespace bitwell::image
