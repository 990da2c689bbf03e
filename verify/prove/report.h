// What a GPU answered, as one file that can be sent to others, and as evidence of theirs.
#pragma once
#include <string>
#include <vector>

#include "verify/capture/captures.h"
#include "verify/prove/prove.h"

namespace bitwell::prove {

struct Report {
  std::string device;  // "NVIDIA B200"
  std::string driver;
  int compute_capability = 0;                  // of the GPU: 100
  std::string version;                         // of bitwell
  std::map<std::string, std::string> digests;  // by answer_name: all that the GPU answered
  std::map<std::string, std::string>
      differs;  // by answer_name: those that are not bitwell's, and how; of open ones, how many words
};

// "kernels, sm_100a: dense/m128_n64"
std::string answer_name(const Part& part, const std::string& question);

void add(Report& report, const Part& part, const std::vector<Reply>& replies);
std::string text_of(const Report& report);  // JSON
// Throws InputError naming the file for one that is no report.
Report read_report(const std::string& path);
// Throws InputError for a report, of that file, that no GPU gave: of a driver "none", or with answers to what
// the GPU that it names does not run. Whether a GPU gave the others nobody can tell from the file.
void check_is_a_gpus(const Report& report, const std::string& path);

// What of a report this bitwell gives too, bit by bit, as a capture of "DEVICE, reported by NAME"; the
// others' names go to `others`. `kernels`: as parts has it.
capture::Capture evidence_of(const Report& report, const std::string& by, const std::string& kernels,
                             const AskProgress& progress, int threads, std::vector<std::string>& others);

}  // namespace bitwell::prove
