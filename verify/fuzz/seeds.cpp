// Writes what the fuzzers start from: DIR/<target>/<name>, and DIR/<target>.dict with words worth trying;
// made from kernels, probes, launches, specs and expressions that the tests use too. Usage: fuzz_seeds DIR
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "model/budget/spec.h"
#include "model/isa/compile/compile.h"
#include "model/layout/expression.h"
#include "model/layout/hardware.h"
#include "verify/capture/captures.h"
#include "verify/launch/file/launch_json.h"
#include "verify/launch/file/npy.h"
#include "verify/mma/mma_dot.h"
#include "verify/probe/async.h"
#include "verify/probe/instruction.h"
#include "verify/probe/tensor.h"

namespace bitwell::fuzz {
namespace {

namespace fs = std::filesystem;

const std::string kChoices = "//000000000000000000000000\n";  // for ptx_run.cpp to change
constexpr size_t kLongest = 6144;  // bytes of a PTX seed: longer ones slow every input that is made of them

const std::vector<std::string> kNumbers{"0",
                                        "1",
                                        "-1",
                                        "2",
                                        "8",
                                        "64",
                                        "4096",
                                        "2147483648",
                                        "4294967296",
                                        "9223372036854775807",
                                        "-9223372036854775808"};

class Seeds {
 public:
  Seeds(fs::path folder, const std::string& target) : folder_(folder / target) {
    fs::create_directories(folder_);
  }
  void add(const std::string& text) {
    std::string name = std::to_string(count_++);
    name.insert(0, 5 - std::min<size_t>(name.size(), 5), '0');
    std::ofstream(folder_ / name, std::ios::binary)
        .write(text.data(), static_cast<std::streamsize>(text.size()));
  }

 private:
  fs::path folder_;
  size_t count_ = 0;
};

// Words that libFuzzer puts into inputs: DIR/<target>.dict.
void add_words(const fs::path& folder, const std::string& target, const std::vector<std::string>& words) {
  std::ofstream out(folder / (target + ".dict"));
  for (const std::string& word : words) {
    out << '"';
    for (const char c : word) out << (c == '"' || c == '\\' ? "\\" : "") << c;
    out << "\"\n";
  }
}
// The words with the quotes that JSON puts around them.
std::vector<std::string> quoted(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  for (const std::string& word : words) out.push_back('"' + word + '"');
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

// Without what a compiler says about sources: mutations are to fall on instructions.
std::vector<std::string> bare(const std::string& text) {
  std::vector<std::string> out;
  for (const std::string& line : lines_of(text)) {
    const size_t first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    const std::string_view rest = std::string_view(line).substr(first);
    if (rest.starts_with("//") || rest.starts_with(".loc") || rest.starts_with(".file")) continue;
    if (rest.starts_with(".section")) break;  // debugging information, at the end
    out.push_back(std::string(rest));
  }
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// What kernels seldom have: tables, calls, jumps through tables, functions' addresses.
constexpr const char* kSeldom = R"ptx(.version 9.0
.target sm_90a
.address_size 64
.global .align 4 .u32 words[4] = {1, 2, 0x30, -4};
.const .align 8 .f64 constants[2] = {0d3FF0000000000000, 1.5};
.global .align 1 .b8 text[12] = {37, 100, 32, 37, 102, 10, 0};
.global .u64 pointers[2] = {words, generic(text)+4};
.func (.param .b32 out) twice(.param .b32 in)
{
.reg .b32 %r<3>;
ld.param.u32 %r1, [in];
shl.b32 %r2, %r1, 1;
st.param.b32 [out], %r2;
ret;
}
.extern .func (.param .b32 status) vprintf(.param .b64 format, .param .b64 values);
.visible .entry probe(.param .u64 memory)
{
.local .align 8 .b8 frame[16];
.shared .align 1024 .b8 tile[4096];
.shared .align 8 .b64 bar;
.reg .pred %p<4>;
.reg .b16 %h<4>;
.reg .b32 %r<8>;
.reg .b64 %q<8>;
ld.param.u64 %q0, [memory];
mov.u32 %r0, %tid.x;
and.b32 %r1, %r0, 1;
table: .branchtargets even, odd;
brx.idx %r1, table;
even:
{
.param .b32 in;
.param .b32 out;
st.param.b32 [in], %r0;
call.uni (out), twice, (in);
ld.param.b32 %r2, [out];
}
bra.uni next;
odd:
mov.u64 %q1, twice;
shape: .callprototype (.param .b32 _) _ (.param .b32 _);
{
.param .b32 in;
.param .b32 out;
st.param.b32 [in], %r0;
call (out), %q1, (in), shape;
ld.param.b32 %r2, [out];
}
next:
mov.u64 %q2, frame;
cvta.local.u64 %q3, %q2;
st.local.u32 [frame], %r2;
st.local.f64 [frame+8], 0d3FF8000000000000;
mov.u64 %q4, text;
cvta.global.u64 %q5, %q4;
{
.param .b64 format;
.param .b64 values;
.param .b32 status;
st.param.b64 [format], %q5;
st.param.b64 [values], %q3;
call.uni (status), vprintf, (format, values);
}
ld.const.f64 %q6, [constants+8];
mul.wide.u32 %q7, %r0, 4;
add.u64 %q7, %q7, %q0;
st.global.u32 [%q7], %r2;
ret;
}
)ptx";
// What lanes of a warp and threads of a cluster do together.
constexpr const char* kTogether = R"ptx(.version 9.0
.target sm_90a
.address_size 64
.visible .entry probe(.param .u64 memory)
{
.shared .align 1024 .b8 tile[4096];
.shared .align 8 .b64 bar;
.reg .pred %p<4>;
.reg .b16 %h<4>;
.reg .b32 %r<8>;
.reg .b64 %q<8>;
ld.param.u64 %q0, [memory];
mov.u32 %r0, %tid.x;
mov.u64 %q1, %q0;
and.b32 %r1, %r0, 31;
mul.wide.u32 %q2, %r1, 4;
add.u64 %q3, %q0, %q2;
setp.eq.u32 %p0, %r0, 0;
setp.lt.u32 %p1, %r1, 8;
shfl.sync.down.b32 %r2|%p2, %r0, 4, 31, 0xffffffff;
vote.sync.ballot.b32 %r3, %p1, 0xffffffff;
vote.sync.any.pred %p3, %p1, 0xffffffff;
match.any.sync.b32 %r4, %r1, 0xffffffff;
match.all.sync.b32 %r4|%p2, %r3, 0xffffffff;
redux.sync.add.s32 %r5, %r0, 0xffffffff;
elect.sync _|%p2, 0xffffffff;
activemask.b32 %r6;
isspacep.global %p2, %q1;
atom.global.add.u32 %r7, [%q3], 1;
atom.global.cas.b32 %r7, [%q0], 0, %r0;
red.global.max.s32 [%q3], %r0;
@%p0 mbarrier.init.shared.b64 [bar], 1;
bar.sync 0;
mov.u32 %r2, tile;
shl.b32 %r3, %r1, 4;
add.u32 %r2, %r2, %r3;
cp.async.ca.shared.global [%r2], [%q0], 16;
cp.async.commit_group;
cp.async.wait_group 0;
atom.shared.exch.b32 %r7, [%r2], %r0;
mapa.shared::cluster.u32 %r4, %r2, 0;
st.shared::cluster.u32 [%r4], %r0;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
cvt.rn.f32.s32 %r5, %r0;
cvt.rzi.s32.f32 %r6, %r5;
mbarrier.test_wait.parity.shared.b64 %p2, [bar], 1;
prefetch.global.L2 [%q0];
st.global.u32 [%q3], %r6;
ret;
}
)ptx";

// The module, or where it is long each entry with what stands outside all entries.
void add_modules(Seeds& seeds, const std::string& text) {
  const std::vector<std::string> lines = bare(text);
  if (const std::string whole = joined(lines); whole.size() <= kLongest) return seeds.add(kChoices + whole);
  std::vector<std::string> common;
  std::vector<std::vector<std::string>> entries;
  bool inside = false;
  for (const std::string& line : lines) {
    if (!inside && line.find(".entry") != std::string::npos) {
      inside = true;
      entries.emplace_back();
    }
    (inside ? entries.back() : common).push_back(line);
    if (line == "}") inside = false;
  }
  for (const std::vector<std::string>& entry : entries)
    if (const std::string one = joined(common) + joined(entry); one.size() <= kLongest)
      seeds.add(kChoices + one);
}

void add_ptx(const fs::path& folder) {
  Seeds seeds(folder, "ptx");
  for (const char* text : {kSeldom, kTogether}) seeds.add(kChoices + text);
  std::vector<fs::path> files;
  for (const char* share : {"kernels", "test"})
    for (const auto& file : fs::recursive_directory_iterator(capture::share_folder(share)))
      if (file.path().extension() == ".ptx") files.push_back(file.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) add_modules(seeds, launch::read_file(file.string()));
  // One of each opcode, type of tensor product and family: the mutations spell the others.
  std::set<std::string> known;
  for (const probe::Probe& p : probe::probes("sm_90a"))
    if (known.insert(p.instruction.substr(0, p.instruction.find('.'))).second)
      add_modules(seeds, probe::probe_module({p}, "sm_90a"));
  for (const probe::TensorInstruction& i : probe::tensor_instructions())
    if (known.insert((i.warpgroup ? "wgmma " : "mma ") + std::string(i.input->name)).second)
      add_modules(seeds, probe::tensor_module(i));
  for (const probe::AsyncFamily& family : probe::async_families())
    for (uint64_t seed = 1; seed <= 2; ++seed) add_modules(seeds, family.draw(seed).ptx);
}

void add_launches(const fs::path& folder) {
  Seeds seeds(folder, "launch_json");
  const fs::path scratch = folder / "scratch";
  for (const probe::AsyncFamily& family : probe::async_families())
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      launch::Launch launch = family.draw(seed).launch;
      launch.ptx = "/k.ptx";
      for (launch::Buffer& b : launch.buffers) b.defined = false;  // so that it needs no file
      seeds.add(launch::read_file(launch::write_launch(launch, scratch.string())));
    }
  fs::remove_all(scratch);
  seeds.add(launch::read_file(capture::share_folder("kernels") + "/hang/wrong_initial_phase.json"));
  seeds.add(R"({"ptx": "saxpy.ptx", "entry": "saxpy", "grid": [8], "block": [128], "cluster": [2, 1, 1],
 "dynamic_shared_bytes": 1024, "buffers": [{"buffer": "h", "zeros": 64}],
 "arguments": [{"type": "f32", "value": 2.0}, {"buffer": "x", "npy": "x.npy", "read_only": true},
  {"buffer": "y", "bin": "x.bin", "output": "out.npy", "dtype": "f4", "shape": [4, 4]}, {"pointer": "h"},
  {"buffer": "z", "generate": {"kind": "uniform_f32", "bytes": 64, "seed": 3}, "output": "z.bin"},
  {"type": "s32", "value": -1024}, {"type": "f16", "value": 0.5}, {"type": "b64", "value": 18446744073709551615}]})");
  seeds.add(R"({"ptx": "blur.ptx", "entry": "blur", "grid": [2], "block": [32], "registers": 40, "heap": 4096,
 "buffers": [{"buffer": "p", "zeros": 4096}],
 "textures": [{"texture": "t", "over": "p", "format": "u8", "channels": 4, "width": 8, "height": 8, "layers": 2, "address": "border"},
  {"texture": "v", "over": "p", "format": "f32", "width": 4, "height": 4, "depth": 4, "filter": "linear",
   "normalized_coordinates": true, "normalized_values": true}],
 "arguments": [{"texture": "t"}, {"struct": [{"at": 8, "surface": "v"}]}],
 "then": [{"entry": "sum", "grid": [1], "block": [1], "programmatic_stream_serialization": true, "arguments": []}]})");
  std::vector<std::string> words{
      "ptx",        "entry",     "grid",      "block",        "cluster",  "dynamic_shared_bytes",
      "buffers",    "arguments", "type",      "value",        "buffer",   "npy",
      "bin",        "zeros",     "unwritten", "generate",     "kind",     "bytes",
      "seed",       "read_only", "output",    "dtype",        "shape",    "pointer",
      "tensor_map", "offset",    "dims",      "strides",      "box",      "element_strides",
      "swizzle",    "fill",      "nan",       "uniform_bits", "iota_u32", "uniform_f32",
      "x.npy",      "x.bin",     "s8",        "f16"};
  for (const char* word : {"texture",
                           "surface",
                           "textures",
                           "over",
                           "format",
                           "channels",
                           "width",
                           "height",
                           "depth",
                           "layers",
                           "address",
                           "filter",
                           "normalized_coordinates",
                           "normalized_values",
                           "clamp",
                           "border",
                           "linear",
                           "heap",
                           "registers",
                           "then",
                           "cooperative",
                           "non_portable_cluster",
                           "programmatic_stream_serialization"})
    words.emplace_back(word);
  for (const auto& row : machine::kTensorTypes) words.emplace_back(row.name);
  for (const auto& row : machine::kTensorSwizzles) words.emplace_back(row.name);
  words = quoted(words);
  for (const char* number : {"-1", "0", "1e999", "-0.5", "4294967296", "18446744073709551615",
                             "18446744073709551616", "true", "null", "[]", "{}", "/*", "*/", "//"})
    words.emplace_back(number);
  add_words(folder, "launch_json", words);
}

void add_arrays(const fs::path& folder) {
  Seeds seeds(folder, "npy");
  for (const char* dtype : {"b1", "u1", "i2", "f2", "u4", "f4", "i8", "f8"})
    for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{}, {4}, {2, 3}, {0, 7}, {1, 2, 1, 2}}) {
      uint64_t bytes = launch::element_size(dtype);
      for (const uint64_t n : shape) bytes *= n;
      seeds.add(launch::npy_text({dtype, shape, std::vector<std::byte>(bytes, std::byte{0x3C})}));
    }
  add_words(folder, "npy",
            {"'descr':", "'fortran_order': False", "'fortran_order': True", "'shape': (", "<f4", ">f4", "|u1",
             "),", "18446744073709551615", "281474976710656"});
}

void add_layouts(const fs::path& folder) {
  Seeds seeds(folder, "layout");
  for (const std::string& line : lines_of(launch::read_file(BITWELL_CUTE_WORDS)))
    if (const size_t end = line.find(" => "); line[0] != '#' && end != std::string::npos)
      seeds.add(line.substr(0, end));
  for (const char* text :
       {"S<3,4,3> o 0 o (8,64):(64,1)", "composition(S<2,3,3> o 0 o (8,8), [4, _])", "_4:_1",
        "recast((8,64):(64,1), 16, 8)", "size((4,(2,8)):(8,(1,32)))", "cosize(4:-3)", "5,(1,2)"})
    seeds.add(text);
  std::vector<std::string> words = kNumbers;
  for (const std::string& name : layout::function_names())
    words.push_back(name.substr(0, name.find('(') + 1));
  for (const char* word : {"S<3,4,3> o 0 o ", "S<", "> o ", " o ", "_", ":", "),(", "[", "]"})
    words.emplace_back(word);
  add_words(folder, "layout", words);
}

void add_budgets(const fs::path& folder) {
  Seeds specs(folder, "budget_spec");
  Seeds formulas(folder, "budget_formula");
  // With all names that the fuzzer gives it.
  for (const char* text : {"least + most * bits", "most % ctas - rank", "max(least, most) / min(ctas, bits)",
                           "if(rank, least // bits, tile_m * tile_n)"})
    formulas.add(text);
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(capture::share_folder("budgets")))
    files.push_back(file.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string text = launch::read_file(file.string());
    specs.add(text);
    const budget::Spec spec = budget::parse_spec(text);
    for (const auto& [name, formula] : spec.names) formulas.add(formula);
    formulas.add(spec.legal);
    for (const auto* items : {&spec.shared, &spec.tensor})
      for (const budget::Item& item : *items) formulas.add(item.size);
  }
  specs.add(R"json({"name": "n", "names": {"n": 4}, "shared": [{"name": "a", "bytes": "n * 8", "per": "stage",
 "layout": {"expression": "({n},8):(8,1)", "bits": 8}}, {"name": "c", "per": "epilogue", "bytes": 64}],
 "tensor": [{"name": "d", "columns": "n"}], "search": {"n": [2, 4]}, "maximise": {"stages": "stages"}})json");
}

// Names of the layouts that hardware fixes, their parameters, and what a spec says.
void add_budget_words(const fs::path& folder) {
  std::vector<std::string> words{"name",   "source",     "names",  "capacity", "least_stages", "legal",
                                 "shared", "tensor",     "search", "maximise", "bytes",        "columns",
                                 "count",  "why",        "per",    "cta",      "stage",        "epilogue",
                                 "layout", "expression", "bits"};
  for (const layout::Named& n : layout::named_layouts()) {
    words.emplace_back(n.name);
    for (const layout::ParameterHelp& p : n.parameters) words.emplace_back(p.name);
  }
  words = quoted(words);
  std::vector<std::string> operators{
      "+",         "-",   "*", "//", "%", "==",     "!=",   "<=",    ">=",   "min(", "max(", "ceil_div(",
      "round_up(", "if(", "(", ")",  ",", "tile_m", "rank", "least", "most", "bits", "ctas"};
  operators.insert(operators.end(), kNumbers.begin(), kNumbers.end());
  add_words(folder, "budget_formula", operators);
  words.insert(words.end(), operators.begin(), operators.end());
  add_words(folder, "budget_spec", words);
}

void add_dot_products(const fs::path& folder) {
  Seeds seeds(folder, "mma");
  const auto repeated = [](size_t n, const char* word) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += std::string(" ") + word;
    return out + " ";
  };
  for (const mma::Instruction& i : mma::instructions()) {
    const size_t k = i.rule->scale == nullptr ? 4 : static_cast<size_t>(i.rule->length);
    std::string line = i.name + " |" + repeated(k, "1") + "|" + repeated(k, "2") + "| 0";
    if (i.rule->scale != nullptr) {
      const size_t n = i.rule->scales(k);
      line += " |" + repeated(n, "1") + "|" + repeated(n, "2");
    }
    seeds.add(line);
  }
  seeds.add("hopper.wgmma.f32.f16 | 4096 -0.5 -0.25 -0.125 | -2048 1 1 1 | 8388608");
  seeds.add("hopper.wgmma.f32.e4m3 | inf nan -448 0x1p-6 | 1e-2 1 1 0 | -3");
  std::vector<std::string> words{"inf",      "-inf", "nan", "1e400", "1e-400", "0x1p-1074",
                                 "ffffffff", "7f",   "ff",  " | ",   "-0"};
  for (const mma::Instruction& i : mma::instructions()) words.push_back(i.name + " |");
  add_words(folder, "mma", words);
}

}  // namespace
}  // namespace bitwell::fuzz

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds DIR\n");
    return 2;
  }
  using namespace bitwell::fuzz;
  const fs::path folder = argv[1];
  add_ptx(folder);
  add_launches(folder);
  add_arrays(folder);
  add_layouts(folder);
  add_budgets(folder);
  add_budget_words(folder);
  add_dot_products(folder);
}
