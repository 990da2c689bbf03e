// Who wants every access of a launch, and can be told of each cluster by itself while they run side by side.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/machine/event.h"
#include "model/machine/row.h"

namespace bitwell::run {

class TakesRows {
 public:
  virtual ~TakesRows() = default;
  // To be told of such an access, if that is all there is to know of it; else false, and it is to be told of
  // the event.
  virtual bool tell(const machine::Row& row) = 0;
};

class Apart : public TakesRows {
 public:
  // Who is told of one cluster alone.
  class One : public TakesRows {
   public:
    using TakesRows::tell;
    // Returns why all clusters are to be told of together, one after the other, as far as that shows already;
    // empty: nothing says so.
    virtual std::string_view tell(const machine::Event& event) = 0;
    // Threads of a warp of the CTA, or an operation that it has issued, read weakly, by the instruction of
    // that line, what no cluster changes if what is told apart counts: whether it need not be told, as
    // nothing comes of it. It has been counted as an access then.
    virtual bool passes_over(const std::array<uint32_t, 3>& cta, int warp, int ptx_line) = 0;
    // To be called behind its last event: likewise.
    virtual std::string ended() = 0;
  };
  using TakesRows::tell;
  // A launch's clusters begin, from its first one on.
  virtual void begin() = 0;
  // By any host thread, which then calls the one's functions.
  virtual std::unique_ptr<One> one() = 0;
  // Of every cluster, in the order of the grid, when all have ended: what was told of it counts. No cluster
  // reached global memory that another one changed.
  virtual void add(One& one) = 0;
  // Of all of them together: nothing that was told apart counts.
  virtual void tell(const machine::Event& event) = 0;
};

// The `tell` of an observer that is one.
struct TellsApart {
  Apart* who;
  void operator()(const machine::Event& event) const { who->tell(event); }
};
// nullptr: it is told of all clusters, in order.
inline Apart* apart_of(const machine::Observer& observer) {
  const auto* const tells = observer.tell.target<TellsApart>();
  return tells == nullptr ? nullptr : tells->who;
}

}  // namespace bitwell::run
