// The ways a run can end badly, never mixed, and the place they name.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/cuda_line.h"

namespace bitwell::machine {

// Where in a launch something happened. ptx_line 0: not known.
struct Place {
  int ptx_line = 0;
  CudaPlace cuda;  // by .loc
  std::array<uint32_t, 3> cta{};
  std::array<uint32_t, 3> thread{};
  bool has_thread = false;
};

// The same of something under way. Its line is held by the program that it is part of: host threads that run
// CTAs of one grid would otherwise count together, for every operation, who holds it.
struct IssuePlace {
  int ptx_line = 0;
  const CudaPlace* cuda = nullptr;
  std::array<uint32_t, 3> cta{};
  std::array<uint32_t, 3> thread{};

  Place kept() const { return {ptx_line, cuda == nullptr ? nullptr : *cuda, cta, thread, cuda != nullptr}; }
};

// "(1,0,0)"
std::string triple(const std::array<uint32_t, 3>& v);
// "PTX line 12 (naive.cu:30), CTA (0,0,0), thread (5,0,0): message"
std::string describe(const Place& place, const std::string& message);

// The kernel under test is wrong.
struct Fault : std::runtime_error {
  explicit Fault(const std::string& message, int lane_ = -1) : std::runtime_error(message), lane(lane_) {}
  Fault(const Place& where, const std::string& message)
      : std::runtime_error(describe(where, message)), place(where), placed(true) {}
  // The same failure in other words.
  Fault(const Fault& as, const std::string& message)
      : std::runtime_error(message),
        lane(as.lane),
        place(as.place),
        placed(as.placed),
        access(as.access),
        waiters(as.waiters) {}
  // The same, of which it is known now where it happened.
  Fault at(const Place& where) const {
    Fault out(*this, describe(where, what()));
    out.place = where;
    out.placed = true;
    return out;
  }

  int lane = -1;  // the lane at fault, until the run loop knows its thread
  Place place;
  bool placed = false;
  // What the message says, for programs: the access that may not be; and who waits, where nothing can run.
  struct Access {
    std::string_view kind;   // "read", "write", "atomic", or "uninitialized read" of what nobody wrote before
    std::string_view space;  // "global", "shared", ...
    uint64_t address = 0, bytes = 0;
    std::string object{};  // that it is in or beside, or empty
  };
  std::optional<Access> access;
  struct Waiter {
    Place place;
    std::string instruction;
    uint32_t threads = 0;  // of the warp
    std::string on;        // "on barrier 1: 32 threads arrived of 64"
    uint64_t polled = 0;   // global memory that it reads again and again; 0: none
  };
  std::vector<Waiter> waiters;
};

// bitwell does not model this, and says what by name.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
  Unsupported(const Place& where, const std::string& message)
      : std::runtime_error(describe(where, message)), placed(true) {}
  bool placed = false;
};

// What the user gave cannot be used: a missing entry, a wrong size, text that is not PTX.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// bitwell is wrong.
struct ModelBug : std::logic_error {
  using std::logic_error::logic_error;
};

}  // namespace bitwell::machine
