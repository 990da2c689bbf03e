#include "verify/verdict/verdict.h"

#include "verify/launch/file/launch_json.h"
#include "verify/schedules/schedules.h"

namespace bitwell::verdict {

Judged::Failure failure_of(const suite::Failure& failure, const std::string& folder) {
  Judged::Failure out{failure.wrong, failure.what, "", launch::replay_options(failure.schedule), ""};
  if (folder.empty()) return out;
  try {
    out.replay = launch::write_launch(failure.launch, folder);
  } catch (const machine::InputError& e) {
    out.replay_error = e.what();
  }
  return out;
}

void add_failure(Verdict& v, const Judged::Failure& failure) {
  v.mismatches += failure.wrong;
  if (!v.first_mismatch.empty()) return;
  v.first_mismatch = failure.what;
  v.replay = failure.replay;
  v.replay_options = failure.replay_options;
  v.replay_error = failure.replay_error;
}

void add_published(Verdict& v) {
  if (!v.holds || v.published_outputs == 0) return;
  v.evidence = "published (B200: " + std::to_string(v.published_outputs) + " outputs" +
               (v.published_words == 0 ? "" : ", " + std::to_string(v.published_words) + " words") +
               "); rest " + v.evidence;
}

void compare_with_capture(Verdict& v, const std::optional<capture::Capture>& capture,
                          const std::string& subject) {
  if (!capture) return;
  const auto recorded = capture->digests.find(subject);
  if (recorded == capture->digests.end()) return;
  if (recorded->second == v.digest) {
    v.evidence = "device: " + capture->device;
    return;
  }
  v.holds = false;
  if (v.first_mismatch.empty())
    v.first_mismatch =
        "digest " + v.digest + " is not the " + recorded->second + " that " + capture->device + " gave";
}

void add_reported(Verdict& v, const std::vector<capture::Capture>& reported, const std::string& name) {
  for (const capture::Capture& c : reported) {
    const auto digest = c.digests.find(name);
    if (digest == c.digests.end() || digest->second != v.digest) continue;
    const std::string before = v.evidence.starts_with("manual") ? "" : v.evidence + "; ";
    v.evidence = before + "device: " + c.device;
  }
}

}  // namespace bitwell::verdict
