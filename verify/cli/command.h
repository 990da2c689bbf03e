// Each subcommand adds itself to the app; its callback sets the exit status.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>

namespace bitwell::cli {

// Exit statuses (README.md).
enum Status { held = 0, failed = 1, unusable = 2, unsupported = 3, model_bug = 4 };

// Of an option that counts: a whole number in this range, which --help then states.
CLI::Validator whole(uint64_t least, uint64_t most);

void add_verify(CLI::App& app, int& status);
void add_merge(CLI::App& app, int& status);
void add_run(CLI::App& app, int& status);
void add_judge(CLI::App& app, int& status);
void add_time(CLI::App& app);
void add_init(CLI::App& app);
void add_check(CLI::App& app, int& status);
void add_formats(CLI::App& app, int& status);
void add_layout(CLI::App& app, int& status);
void add_budget(CLI::App& app, int& status);
void add_mma(CLI::App& app, int& status);
// `merging`: its rows are those that journals have; nullptr: they are computed.
struct MergedStudy;
void add_study(CLI::App& app, int& status, const MergedStudy* merging = nullptr);
void add_problem(CLI::App& app);
void add_schema(CLI::App& app);
void add_completion(CLI::App& app);
void add_man(CLI::App& app);
void add_descriptor(CLI::App& app);
void add_tensor_map(CLI::App& descriptor);
void add_exec(CLI::App& app, int& status);
void add_capture(CLI::App& app, int& status);
// The words without the "--" before a program's, of which CLI11 makes nothing.
std::vector<char*> without_mark(const CLI::App& app, int argc, char** argv);
void add_prove(CLI::App& app, int& status);
void add_help(CLI::App& app);

}  // namespace bitwell::cli
