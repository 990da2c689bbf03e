// The architectures that PTX can name: what each has and may have, one row a compute capability.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace bitwell::machine {

// The least PTX version (10 * major + minor) that knows a target with that suffix ("", "a", "f"); 0: there is
// none.
struct Versions {
  int plain, a, f;
};

// A whole device: its multiprocessors, and bytes of memory, which a launch may ask for by default. A cluster
// runs within one of its processing clusters (GPCs), of so many multiprocessors at most; 0: not known.
struct Device {
  uint32_t sms;
  uint64_t memory;
  uint32_t gpcs, gpc_sms;
  uint32_t cluster;  // CTAs of a cluster, at most, where the kernel allows a size that is not portable
};

// What some architectures have and not every later one: the suffixes with which a target has it ("a", "af"),
// or nothing where no target of that architecture does. As ptxas 13.0 takes them.
struct Features {
  std::string_view wgmma{};
  std::string_view tcgen05{};            // tensor memory, what moves and multiplies in it, but for:
  std::string_view tcgen05_integers{};   // .kind::i8
  std::string_view tcgen05_scale_vec{};  // scale vectors by .scale_vec, not by .block
  std::string_view tcgen05_shift{};
  std::string_view tcgen05_ld_red{};  // loads that reduce
  std::string_view pair_copies{};     // tensor copies for pairs of CTAs, and of rows that an index picks
  std::string_view redux_f32{};
  std::string_view cvt_rs{};  // stochastic rounding
};

struct Arch {
  int sm;
  std::string_view family;  // the architecture's name
  Versions since;           // what ptxas 13.0 takes
  // Whose rows of the table of dot products its mma.sync follows; empty: none that evidence covers.
  std::string_view tensor;
  uint64_t shared;  // bytes of shared memory that a CTA can have (CUDA programming guide 13.0, "Technical
                    // specifications per compute capability")
  // Of a multiprocessor (CCCL 3.2, arch_traits).
  uint64_t sm_shared;  // bytes; what is over `shared` is kept by the system for each CTA
  uint32_t sm_threads, sm_ctas;
  Device device;  // the largest that runs its targets
  Features has;
  // How what is computed for it is known, where nothing more is said: "device" or "manual".
  std::string_view evidence;
};

// By rising sm.
std::span<const Arch> archs();
// The row of a compute capability that archs() has. Throws ModelBug for another.
const Arch& arch(int sm);

// A .target directive's first name taken apart. Throws Unsupported where no row has it.
struct Target {
  const Arch* arch = nullptr;
  char suffix = 0;  // 'a', 'f' or 0
  int version = 0;  // the least PTX version that knows it
};
Target find_target(std::string_view name);

}  // namespace bitwell::machine
