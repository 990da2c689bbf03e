// A campaign whose mutants many processes share.
#include "verify/bugs/mutation/campaign.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/machine/failure.h"
#include "verify/capture/captures.h"

namespace bitwell::bugs {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::stringstream all;
  all << std::ifstream(path, std::ios::binary).rdbuf();
  return all.str();
}

class CampaignShards : public testing::Test {
 protected:
  CampaignShards() {
    fs::create_directories(folder_);
    std::ofstream(options_.list = folder_ / "list.txt");  // of no survivors
    options_.only = {"hang/pipeline"};
    options_.kind = "deleted";
  }
  ~CampaignShards() override { fs::remove_all(folder_); }

  std::string in(const std::string& name) const { return folder_ / name; }
  CampaignEnd shard(const std::string& of, const std::string& name, const std::string& times = "",
                    const char* version = "1") const {
    return run_campaign_shard(subjects_, options_, in(name), of, times, version);
  }
  CampaignEnd merged(const std::string& name, const char* version = "1") const {
    return merge_campaign(subjects_, {.list = options_.list}, in(name), version);
  }
  // All journals of a folder, each as a file of its own.
  std::vector<fs::path> journals(const std::string& name) const {
    std::vector<fs::path> out;
    for (const auto& entry : fs::directory_iterator(in(name))) out.push_back(entry.path());
    std::sort(out.begin(), out.end());
    return out;
  }
  // What a refusal says.
  template <class Call>
  static std::string refused(const Call& call) {
    try {
      call();
    } catch (const machine::InputError& e) {
      return e.what();
    }
    return "";
  }

  fs::path folder_ = fs::temp_directory_path() / ("bitwell-campaign-" + std::to_string(getpid()));
  std::vector<Subject> subjects_ = subjects(capture::share_folder("kernels"));
  CampaignOptions options_;
};

TEST_F(CampaignShards, MergeToTheReportOfOneProcess) {
  options_.kind = "";
  options_.most = 2;
  const CampaignEnd whole = run_campaign(subjects_, options_);
  for (const int of : {1, 2, 3, 7}) {
    const std::string name = "of" + std::to_string(of);
    for (int i = of; i >= 1; --i) shard(std::to_string(i) + "/" + std::to_string(of), name);
    const CampaignEnd end = merged(name);
    EXPECT_EQ(end.text, whole.text) << of;
    EXPECT_EQ(end.held, whole.held) << of;
  }
}

// Of what was judged once: parts that ran twice, elsewhere, or not at all, and lines that are torn.
TEST_F(CampaignShards, JournalsMayBeRepeatedAndTorn) {
  shard("2/2", "all");
  const std::string half = merged("all").text;
  EXPECT_FALSE(merged("all").held);
  EXPECT_NE(half.find(" mutants are missing:\n  hang/pipeline: line "), std::string::npos) << half;
  EXPECT_NE(
      half.find("judge them: campaign --only hang/pipeline --kind deleted --most 6 --seed 1 --journal "),
      std::string::npos)
      << half;
  const CampaignEnd rest = shard("", "all");  // what is left, by one process
  EXPECT_NE(rest.text.find("judged, the others before"), std::string::npos) << rest.text;
  const CampaignEnd whole = merged("all");
  EXPECT_EQ(whole.text.find("missing:"), std::string::npos) << whole.text;

  const std::vector<fs::path> files = journals("all");
  ASSERT_EQ(files.size(), 2U);
  fs::copy(files[0], in("all/again.jsonl"));
  EXPECT_EQ(merged("all").text, whole.text);

  const std::string text = text_of(files[0]);
  const std::string torn = text.substr(0, text.size() - 20);
  std::ofstream(in("all/again.jsonl"), std::ios::binary) << torn;
  EXPECT_EQ(merged("all").text, whole.text);
  std::ofstream(files[0], std::ios::binary) << torn;
  EXPECT_EQ(merged("all").text.find("1 of "), 0U);
  shard("", "all");
  EXPECT_EQ(merged("all").text, whole.text);

  // The longest first, by what stands there.
  EXPECT_NE(shard("1/2", "times", in("all")).text.find("campaign, shard 1/2: "), std::string::npos);
  shard("2/2", "times", in("all"));
  EXPECT_EQ(merged("times").text, whole.text);

  const auto says = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const size_t at = other.rfind(from);
    EXPECT_NE(at, std::string::npos) << from;
    std::ofstream(in("all/again.jsonl"), std::ios::binary) << other.replace(at, from.size(), to);
    return refused([&] { merged("all"); });
  };
  EXPECT_NE(says("\"found\":\"", "\"found\":\"not ").find(" came out otherwise than "), std::string::npos);
  EXPECT_NE(says("\"modules\":\"", "\"modules\":\"0").find(" is another PTX than "), std::string::npos);
  EXPECT_NE(says("{\"case\"", "[\"case\"").find(" is no line of a journal"), std::string::npos);
  EXPECT_NE(says("\"seed\":1", "\"seed\":2").find("give each question a folder of its own"),
            std::string::npos);
  fs::remove(in("all/again.jsonl"));
  EXPECT_NE(refused([&] { merged("all", "2"); }).find(" is of '1', this is '2'"), std::string::npos);
  EXPECT_NE(refused([&] { shard("1/2", "all", "", "2"); }).find(" is of '1', this is '2'"),
            std::string::npos);
  EXPECT_NE(refused([&] { shard("3/2", "all"); }).find("there is no shard 3"), std::string::npos);
  EXPECT_NE(refused([&] { merged("none"); }).find("no journal in "), std::string::npos);
  std::ofstream(options_.list) << "\n";
  EXPECT_NE(refused([&] { merged("all"); }).find("another list of survivors"), std::string::npos);
}

}  // namespace
}  // namespace bitwell::bugs
