#include "verify/prove/prove.h"

#include <algorithm>
#include <cstring>

#include "verify/capture/digest.h"
#include "verify/suite/parallel.h"

namespace bitwell::prove {
namespace {

using Results = std::vector<std::vector<std::byte>>;

std::vector<std::byte> outputs_of(const suite::Chain& chain) {
  std::vector<std::byte> out;
  for (const launch::Buffer& b : chain.launches.back().buffers)
    if (b.output) out.insert(out.end(), b.bytes.begin(), b.bytes.end());
  return out;
}

// On the GPU each launch has memory of its own: what links it to earlier ones is copied.
std::vector<std::byte> asked(Trial trial, const RunLaunch& ask) {
  std::vector<launch::Launch>& launches = trial.chain.launches;
  for (size_t i = 0; i < launches.size(); ++i) {
    for (const suite::Chain::Link& link : trial.chain.links)
      if (link.to == i)
        launches[i].buffers[link.to_buffer].bytes = launches[link.from].buffers[link.from_buffer].bytes;
    ask(trial.texts[i], launches[i]);
  }
  return outputs_of(trial.chain);
}

std::vector<std::byte> simulated(Trial trial) {
  const auto module_of = [&](const launch::Launch& l) {
    return trial.texts[static_cast<size_t>(&l - trial.chain.launches.data())];
  };
  suite::simulate(trial.chain, module_of, {}, true);
  return outputs_of(trial.chain);
}

std::string digest_of(const Question& question, const Results& results) {
  if (question.digest) return question.digest(results);
  capture::Digest digest;
  for (const std::vector<std::byte>& r : results) digest.add(r);
  return digest.hex();
}

std::string word_at(const std::vector<std::byte>& bytes, size_t at) {
  uint32_t v = 0;
  if (at < bytes.size()) std::memcpy(&v, &bytes[at], std::min<size_t>(4, bytes.size() - at));
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", v);
  return text;
}

// The first word of 4 bytes that differs, and how many do.
std::string difference(const Results& gpu, const Results& model) {
  uint64_t wrong = 0;
  std::string first;
  for (size_t t = 0; t < gpu.size(); ++t)
    for (size_t at = 0; at < std::max(gpu[t].size(), model[t].size()); at += 4) {
      const std::string x = word_at(gpu[t], at);
      const std::string y = word_at(model[t], at);
      if (x == y) continue;
      if (wrong++ == 0)
        first = (gpu.size() == 1 ? "" : "trial " + std::to_string(t) + ", ") + "word " +
                std::to_string(at / 4) + ": GPU " + x + ", bitwell " + y;
    }
  return wrong == 1 ? first : first + " (" + std::to_string(wrong) + " words differ)";
}

}  // namespace

void simulate_launch(const SharedText& text, launch::Launch& launch) {
  launch.module = text;
  launch::simulate(launch, {}, true).keep(launch);
}

std::vector<Reply> prove(const Part& part, const RunLaunch& ask, const AskProgress& progress, int threads) {
  const std::vector<Question> questions = part.questions();
  std::vector<Reply> replies(questions.size());
  std::mutex gpu;  // one launch at a time
  std::mutex told;
  size_t done = 0;
  bool stopped = false;
  suite::each_in_parallel(questions.size(), threads, [&](size_t i) {
    const Question& q = questions[i];
    Reply& reply = replies[i];
    reply.part = part.name;
    reply.name = q.name;
    {
      const std::scoped_lock lock(told);
      if (progress) progress(done++, questions.size(), q.name);
    }
    Results left;
    Results model;
    try {
      const std::vector<Trial> trials = q.trials();
      for (const Trial& t : trials) model.push_back(simulated(t));
      if (!ask) {
        left = model;
      } else {
        const std::scoped_lock lock(gpu);
        if (stopped) return;
        try {
          for (const Trial& t : trials) left.push_back(asked(t, ask));
        } catch (const machine::Fault& e) {
          stopped = true;
          reply.kind = Reply::Kind::stopped;
          reply.detail = e.what();
          return;
        }
      }
    } catch (const std::runtime_error& e) {
      reply.kind = Reply::Kind::refused;
      reply.detail = e.what();
      return;
    }
    for (const std::vector<std::byte>& r : left) reply.bytes += r.size();
    if (q.open) {
      reply.kind = Reply::Kind::left_open;
      reply.detail = left == model ? "no word differs" : difference(left, model);
      return;
    }
    reply.digest = digest_of(q, left);
    reply.kind = left == model ? Reply::Kind::agrees : Reply::Kind::differs;
    if (reply.kind == Reply::Kind::differs) reply.detail = difference(left, model);
  });
  return replies;
}

}  // namespace bitwell::prove
