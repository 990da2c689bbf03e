// bitwell problem
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "model/machine/failure.h"
#include "model/strict_json/write.h"
#include "verify/cli/command.h"
#include "verify/launch/file/dimensions.h"
#include "verify/launch/file/npy.h"
#include "verify/launch/output/output_files.h"
#include "verify/problem/contest.h"
#include "verify/problem/published.h"
#include "verify/terminal/table.h"

namespace bitwell::cli {

using terminal::end_progress;
using terminal::progress;
using terminal::table;
namespace {

struct ProblemOptions {
  std::string shape;
  std::string out;
  uint64_t seed = problem::kPublishedSeed;
  bool json = false;
};

struct ProblemFile {
  std::string path;
  const problem::Operand& operand;
  bool scales;
  std::string what;

  std::vector<uint64_t> shape() const {
    if (!scales) return {operand.l, operand.rows, operand.k / 2};
    return {operand.l, (operand.rows + 127) / 128, operand.k / 64, 32, 4, 4};
  }
  std::string text() const {
    return launch::npy_text({"u1", shape(), scales ? operand.blocked_scales() : operand.all_codes()});
  }
};

void write_problem(const problem::Contest& contest, const ProblemOptions& o) {
  const std::vector<int> extents = launch::parse_dimensions(o.shape, contest.shape);
  const auto extent = [&](size_t i) { return static_cast<uint64_t>(extents[i]); };
  const problem::Inputs in =
      contest.vector ? problem::Inputs(contest, extent(0), 1, extent(1), extent(2), o.seed)
                     : problem::Inputs(contest, extent(0), extent(1), extent(2), extent(3), o.seed);
  const std::filesystem::path folder = o.out;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw machine::InputError("--out: cannot make the folder '" + o.out + "': " + error.message());
  const std::string codes = "E2M1 codes, two a byte, low nibble first";
  const std::string scales = "E4M3 scales of 16 elements, blocks of 128 rows x 4";
  const std::string of_b = contest.vector ? "; row 0 counts" : "";
  const ProblemFile written[] = {{folder / "a.npy", in.a, false, codes},
                                 {folder / "b.npy", in.b, false, codes + of_b},
                                 {folder / "sfa.npy", in.a, true, scales},
                                 {folder / "sfb.npy", in.b, true, scales + of_b}};
  launch::OutputFiles files;
  for (const ProblemFile& f : written) files.plan(f.path, "--out");
  for (const ProblemFile& f : written) {
    progress("drawing " + f.path);
    files.write(f.path, f.text());
  }
  end_progress();
  files.commit();
  if (o.json) {
    nlohmann::json j{{"problem", contest.name}, {"seed", o.seed}, {"files", nlohmann::json::array()}};
    for (const ProblemFile& f : written)
      j["files"].push_back({{"path", f.path}, {"dtype", "u1"}, {"shape", f.shape()}, {"holds", f.what}});
    fmt::print("{}\n", strict_json::dumped(j, 2));
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (const ProblemFile& f : written) {
    std::string shape;
    for (const uint64_t n : f.shape()) shape += (shape.empty() ? "" : " x ") + std::to_string(n);
    rows.push_back({f.path, shape, f.what});
  }
  fmt::print("{}\n{} with seed {}, as torch on a B200 draws it. Each is C-ordered bytes (dtype u1).\n",
             table({{"file"}, {"shape"}, {"holds"}}, rows), contest.name, o.seed);
}

}  // namespace

void add_problem(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "problem", "Write the inputs of a contest's problem as .npy files, to feed a kernel of your own");
  command->require_subcommand(1);
  std::string list;
  for (const problem::Contest* c : problem::kContests) {
    list += (list.empty() ? "Problems:  " : "           ") + fmt::format("{}  {}\n", c->name, c->about);
    CLI::App* one = command->add_subcommand(std::string(c->name), std::string(c->about));
    const auto o = std::make_shared<ProblemOptions>();
    one->add_option("--shape", o->shape,
                    fmt::format("{}; K a multiple of 64, L batches (default 1)", c->shape))
        ->required();
    one->add_option("--seed", o->seed, "What torch.manual_seed was given")->capture_default_str();
    one->add_option("--out", o->out, "Folder for a.npy, b.npy, sfa.npy, sfb.npy; made where it is not there")
        ->required();
    one->add_flag("--json", o->json, "What was written, as JSON");
    one->footer(
        "The bytes are those that the reference of GPU MODE's NVFP4 contest makes on a B200 after\n"
        "torch.manual_seed(seed): its random numbers hang on the GPU's 148 multiprocessors. Codes are\n"
        "[L][rows][K/2]; the scales of rows r and groups g = k / 16 lie in blocks of 512 bytes,\n"
        "[L][rows/128][K/64][r % 32][r / 32 % 4][g % 4], padded to whole blocks.\n"
        "30 outputs that a B200 gave for such inputs agree; none of them reads padding.\n" +
        std::string(c->vector ? "b has 128 rows a batch, of which row 0 is the vector.\n" : "") +
        "\nIn a launch (bitwell run):  {\"buffer\": \"a\", \"npy\": \"DIR/a.npy\"}\n"
        "Example:  bitwell problem " +
        std::string(c->name) + " --shape " + (c->vector ? "7168x2048x4" : "128x256x256") + " --out in");
    one->callback([o, c] { write_problem(*c, *o); });
  }
  command->footer(list + "\nExample:  bitwell problem gpumode-nvfp4-gemm --shape 128x256x256 --out in");
}

}  // namespace bitwell::cli
