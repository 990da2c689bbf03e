// Which loads ptxas leaves behind which stores, and behind which other loads.
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/isa/form/memory_use.h"
#include "model/isa/form/program.h"
#include "model/timing/clock/state.h"

namespace bitwell::timing {

// A load may read what a store before it writes, unless both say that they do not meet: by their spaces, by
// .nc, or as one address and two offsets. ptxas then leaves it behind the store.
void Clock::order_loads(const isa::Function& f, std::vector<Info>& out) {
  // What a register was when it was made last, and so much more.
  struct Address {
    uint32_t row = 0;
    size_t made = 0;
    uint64_t more = 0;
  };
  struct Reach {
    uint8_t spaces = 0;
    Address at;
    uint64_t bytes = 0;

    bool misses(const Reach& other) const {
      const uint64_t behind = at.more - other.at.more;
      return at.row == other.at.row && at.made == other.at.made && behind >= other.bytes && -behind >= bytes;
    }
  };
  std::unordered_map<uint32_t, uint64_t> constants;
  for (const isa::ConstantRow& c : f.constants) constants[c.row] = c.value;
  std::unordered_map<uint32_t, Address> is;
  std::unordered_map<uint32_t, size_t> made;
  const auto address = [&](uint32_t row) -> Address {
    const auto known = is.find(row);
    return known != is.end() ? known->second : Address{row, made[row], 0};
  };
  std::vector<Reach> stores;  // of the block
  for (size_t i = 0; i < f.code.size(); ++i) {
    const isa::Op& op = f.code[i];
    const std::string_view name = f.lines[static_cast<size_t>(op.line)].text;
    const bool load = name.starts_with("ld.");
    const bool store = name.starts_with("st.") || name.starts_with("atom.") || name.starts_with("red.");
    if (load || store)
      if (const auto* use = dynamic_cast<const isa::MemoryUse*>(op.payload)) {
        using isa::Space;
        Reach r{0, address(op.a), uint64_t{use->size} * use->count};
        r.at.more += use->offset;
        const bool anywhere = use->space == Space::generic;
        if (anywhere || use->space == Space::global) r.spaces |= Info::kGlobal;
        if (anywhere || use->space == Space::shared || use->space == Space::cluster)
          r.spaces |= Info::kShared;
        if (name.find(".nc") == std::string_view::npos)
          for (const Reach& s : stores)
            if (!s.misses(r)) out[i].behind_stores |= s.spaces & r.spaces;
        if (store) {
          out[i].stores = r.spaces;
          stores.push_back(r);
        }
      }
    std::optional<Address> sum;
    if (name.starts_with("add.") && op.guard == 0)
      for (const auto& [of, with] : {std::pair(op.a, op.b), std::pair(op.b, op.a)})
        if (const auto c = constants.find(with); c != constants.end()) {
          sum = address(of);
          sum->more += c->second;
        }
    const auto makes = [&](uint32_t row) {
      ++made[row];
      is.erase(row);
    };
    makes(op.d);
    makes(op.d2);
    if (op.results != nullptr)
      for (const uint32_t row : *op.results) makes(row);
    if (sum) is[op.d] = *sum;
    if (out[i].ends_block) stores.clear();
  }
}

// A warp issues in the order of machine code: a load that stands there behind the use of another waits for
// that, as if it needed it. Rows of the program hold several values, one after the other; so each that is
// waited for gets one more, which nothing else makes.
void Clock::order_by_code(std::vector<Info>& infos) {
  std::unordered_map<int64_t, std::vector<Info*>> loads;  // by PTX line
  for (Info& i : infos)
    if (i.kind == OpKind::memory && i.results != 0) loads[i.line].push_back(&i);
  std::unordered_map<const Info*, uint32_t> rows;
  const auto row_of = [&](Info& load) {
    const auto [at, is_new] = rows.try_emplace(&load, rows_);
    if (is_new) {
      const auto first = static_cast<uint32_t>(operands_.size());
      for (uint32_t k = 0; k < load.sources + load.results; ++k)
        operands_.push_back(operands_[load.first + k]);
      operands_.push_back(rows_++);
      load.first = first;
      ++load.results;
    }
    return at->second;
  };
  for (Info& i : infos) {
    const auto behind = code_->waits.find(i.line);
    if (behind == code_->waits.end() || i.kind != OpKind::memory || i.results == 0) continue;
    std::vector<uint32_t> all;
    for (const int64_t line : behind->second)
      if (const auto those = loads.find(line); those != loads.end())
        for (Info* const load : those->second) all.push_back(row_of(*load));
    i.first_behind = static_cast<uint32_t>(operands_.size());
    i.behind = static_cast<uint32_t>(all.size());
    operands_.insert(operands_.end(), all.begin(), all.end());
  }
}

}  // namespace bitwell::timing
