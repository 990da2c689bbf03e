// Which loads ptxas leaves behind which stores.
#include <optional>
#include <unordered_map>

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

}  // namespace bitwell::timing
