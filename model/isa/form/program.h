// A checked program: what the run loop executes.
#pragma once
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/isa/form/op.h"
#include "model/isa/form/unit.h"
#include "model/isa/form/uses.h"
#include "model/machine/cuda_line.h"

namespace bitwell::isa {

// Where an op stands in the PTX, and in the CUDA source when .loc says so.
struct Line {
  int ptx = 0;
  machine::CudaPlace cuda;
  std::string text;  // opcode and modifiers
  Unit unit{};
};

// Values that differ by thread, CTA or launch; filled in when an activation starts.
enum class Special {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  total_smem_size,
  dynamic_smem_size,
  aggr_smem_size,
  envreg_0,  // and the 31 behind it, as the launch gives them
  envreg_31 = envreg_0 + 31,
  local_base,  // ours: where this activation's local memory starts
  shared_base  // ours: the CTA's shared memory as a shared::cluster address
};

struct ConstantRow {
  uint32_t row;
  int bits;
  uint64_t value;
};
struct SpecialRow {
  uint32_t row;
  int bits;
  Special special;
  uint64_t offset = 0;  // added to the value
};

// A parameter's place: in the entry's parameter block, or in a function's local memory.
struct Parameter {
  std::string name;
  std::string type;
  uint64_t offset = 0;
  uint64_t size = 0;
  bool pointer = false;
};

struct LocalVariable {
  std::string name;
  uint64_t offset = 0, size = 0;  // bytes, in the function's frame
};

struct Function {
  Function() = default;
  Function(Function&&) = default;  // ops point into `lists` and `payloads`: never copied
  Function& operator=(Function&&) = default;

  std::string name;
  bool is_entry = false;
  std::vector<Op> code;  // blocks in reverse post-order
  size_t rows = 0;
  std::vector<ConstantRow> constants;
  std::vector<SpecialRow> specials;
  std::vector<Line> lines;
  FunctionUses uses;  // by line
  std::deque<std::vector<uint32_t>> lists;
  std::vector<std::unique_ptr<const Payload>> payloads;
  std::vector<Parameter> params;
  std::vector<Parameter> returns;
  uint32_t local_size = 0;
  std::vector<LocalVariable> locals;  // .local, in the order of their declarations
  std::map<std::string, std::vector<int64_t>> directives;
};

// A .shared variable; of size 0: dynamic.
struct SharedVariable {
  std::string name;
  uint64_t offset = 0;
  uint64_t size = 0;
};

struct GlobalVariable {
  std::string name;
  uint64_t address = 0;
  uint64_t size = 0;             // bytes
  std::vector<std::byte> bytes;  // the initialised ones, at its start; the rest are 0
  bool is_const = false;
};

// A program is made for one entry: its shared variables have addresses.
struct Program {
  std::vector<Function> functions;
  int entry = 0;
  int sm = 0;
  std::string target;
  std::vector<GlobalVariable> globals;           // of the module
  uint64_t constants = 0;                        // where its .const variables start
  std::vector<SharedVariable> shared_variables;  // for reports
  uint64_t shared_size = 0;                      // static
  uint64_t dynamic_shared = 0;                   // where dynamic shared memory starts
  uint64_t parameter_size = 0;
  std::vector<std::string> approximations;  // "line 12: rcp.approx.f32 ..." where no evidence says that the
                                            // target's bits are these
};

// What an instruction with an error bound instead of bits (rcp.approx, ex2.approx, ...) does.
enum class Approximate {
  captured,  // the bits of an H200 where they are recorded and the target is sm_90; else Unsupported, by name
  h200,      // the H200's bits for every target, though none is recorded of another: what is usual
  nearest    // the fp32 value nearest to the true one: no evidence that any device gives the same
};

inline constexpr uint64_t kFunctionWindow = uint64_t{5} << 40;  // addresses of functions

}  // namespace bitwell::isa
