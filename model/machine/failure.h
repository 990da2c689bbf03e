// The ways a run can end badly, never mixed, and the place they name.
#pragma once
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace bitwell::machine {

// Where in a launch something happened. ptx_line 0: not known.
struct Place {
  int ptx_line = 0;
  std::string source;  // "file.cu:12" from .loc, or empty
  std::array<uint32_t, 3> cta{};
  std::array<uint32_t, 3> thread{};
  bool has_thread = false;
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
  int lane = -1;  // the lane at fault, until the run loop knows its thread
  Place place;
  bool placed = false;
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
