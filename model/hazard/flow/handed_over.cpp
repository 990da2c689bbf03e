#include "model/hazard/flow/handed_over.h"

#include "model/machine/memory/memory.h"

namespace bitwell::hazard {

namespace {

constexpr uint64_t kWord = 8;  // bytes of an address

}  // namespace

bool HandedOver::is_local(uint64_t generic) { return generic - machine::kLocalWindow < machine::kWindowSize; }

HandedOver::Place HandedOver::place_of(uint64_t generic, uint32_t cluster, const Thread& who) {
  constexpr uint64_t kClusters = uint64_t{1} << 40;  // beyond the numbers of threads
  if (is_local(generic)) return {uint64_t{who.first} << 5 | who.second, generic};
  const bool shared = generic - machine::kSharedWindow < machine::kWindowSize;
  return {shared ? kClusters + 1 + cluster : kClusters, generic};
}

// What a thread got as that word, if it is the address of a local variable.
std::optional<HandedOver::Maker> HandedOver::got(size_t received, const Thread& who) const {
  if (const LocalPointers::Shuffle* const s = pointers_->shuffle_of(received); s != nullptr) {
    if (!s->source.own || !s->source.received.empty()) return std::nullopt;
    return Maker{who.first, s->from(who.second), s->line, s->source.object};
  }
  const auto at = received_.find({who, received});
  return at == received_.end() ? std::nullopt : std::optional(at->second);
}

// Whose variable an address is in that derives from nothing but received words; nothing where it may be the
// thread's own or another's.
std::optional<HandedOver::Maker> HandedOver::maker_of(const LocalPointers::Source& source,
                                                      const Thread& who) const {
  std::optional<Maker> out;
  for (const size_t received : source.received) {
    const std::optional<Maker> maker = got(received, who);
    if (out && maker && is_of(*maker, who) != is_of(*out, who)) return std::nullopt;
    if (!out) out = maker;
  }
  return source.own ? std::nullopt : out;
}

std::optional<HandedOver::Maker> HandedOver::others(const LocalPointers::Source& source,
                                                    const Thread& who) const {
  const std::optional<Maker> maker = maker_of(source, who);
  return maker && is_of(*maker, who) ? std::nullopt : maker;
}

// Whose variable's address a thread writes at that line, if it is one.
std::optional<HandedOver::Maker> HandedOver::made(const LocalPointers::Source& source, const Thread& who,
                                                  int line) const {
  if (!source.own) return maker_of(source, who);
  if (!source.received.empty()) return std::nullopt;
  return Maker{who.first, who.second, line, source.object};
}

void HandedOver::load(const LocalPointers::Access& known, const Place& place, const Thread& who) {
  for (size_t i = 0; i < known.loaded.size(); ++i) {
    const auto at = words_.find({place.first, place.second + kWord * i});
    if (at != words_.end())
      received_[{who, known.loaded[i]}] = at->second;
    else if (!received_.empty())
      received_.erase({who, known.loaded[i]});
  }
}

void HandedOver::store(const LocalPointers::Access* known, const Place& place, const Thread& who,
                       const machine::Access& a) {
  const Place end{place.first, place.second + a.bytes};
  auto at = words_.lower_bound({place.first, place.second < kWord ? 0 : place.second - kWord + 1});
  while (at != words_.end() && at->first < end) at = words_.erase(at);
  if (known == nullptr) return;
  for (size_t i = 0; i < known->stored.size(); ++i)
    if (const auto maker = made(known->stored[i], who, a.ptx_line))
      words_[{place.first, place.second + kWord * i}] = *maker;
}

}  // namespace bitwell::hazard
