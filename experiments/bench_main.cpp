// The benchmarks' main. The library's own CSV wants the same counters of every benchmark and ends the program
// where they differ, as ours do: this one has a column for each counter, empty where a benchmark has not got
// it.
#include <benchmark/benchmark.h>

#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

class Csv : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& context) override {
    // A file's streams are both the file, which holds rows and nothing else.
    if (&GetOutputStream() == &std::cout) PrintBasicContext(&std::cerr, context);
    return true;
  }
  void ReportRuns(const std::vector<Run>& runs) override {
    runs_.insert(runs_.end(), runs.begin(), runs.end());
  }
  void Finalize() override {
    std::set<std::string> counters;
    for (const Run& run : runs_)
      for (const auto& [name, value] : run.counters) counters.insert(name);
    std::ostream& out = GetOutputStream();
    out << "name,iterations,real_time,cpu_time,time_unit,label";
    for (const std::string& name : counters) out << "," << quoted(name);
    out << "\n";
    for (const Run& run : runs_) {
      out << quoted(run.benchmark_name()) << "," << run.iterations << "," << run.GetAdjustedRealTime() << ","
          << run.GetAdjustedCPUTime() << "," << benchmark::GetTimeUnitString(run.time_unit) << ","
          << quoted(run.report_label);
      for (const std::string& name : counters) {
        out << ",";
        if (const auto at = run.counters.find(name); at != run.counters.end()) out << at->second.value;
      }
      out << "\n";
    }
  }

 private:
  std::vector<Run> runs_;
};

}  // namespace

int main(int argc, char** argv) {
  bool shown = false, written = false, to_file = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    shown = shown || argument == "--benchmark_format=csv";
    written = written || argument == "--benchmark_out_format=csv";
    to_file = to_file || argument.starts_with("--benchmark_out=");
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  Csv display, file;
  benchmark::RunSpecifiedBenchmarks(shown ? &display : nullptr, written && to_file ? &file : nullptr);
  benchmark::Shutdown();
  return 0;
}
