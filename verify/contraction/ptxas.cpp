#include "verify/contraction/ptxas.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/machine/arch.h"
#include "model/machine/failure.h"
#include "model/ptx/parse.h"
#include "model/ptx/reach.h"

namespace bitwell::contraction {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// A folder that is gone with it.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "bitwell-ptxas-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw machine::InputError("cannot make a folder '" + name + "'");
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

// What a program printed, both ways, into `to`; whether it ended well.
bool ran(const std::vector<std::string>& command, const fs::path& to) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, to.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  const int started = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return started == 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// "13.0.88" of what ptxas --version prints.
std::string version_in(const std::string& said) {
  const size_t at = said.find(", V");
  if (at == std::string::npos) return "of unknown version";
  size_t end = at + 3;
  while (end < said.size() && (std::isdigit(static_cast<unsigned char>(said[end])) != 0 || said[end] == '.'))
    ++end;
  return said.substr(at + 3, end - at - 3);
}

// "line 33; error   : Arguments mismatch" of what ptxas says: without the file, which is gone by then.
std::string error_in(const std::string& said) {
  const size_t at = said.find("error");
  const size_t begin = at == std::string::npos ? 0 : said.rfind('\n', at) + 1;
  const std::string line = said.substr(begin, said.find('\n', begin) - begin);
  const size_t where = line.find(", line ");
  return where == std::string::npos ? line : line.substr(where + 2);
}

}  // namespace

std::vector<std::string> usual_folders() {
  std::vector<std::string> out;
  if (const char* const path = std::getenv("PATH")) {
    std::istringstream in(path);
    for (std::string folder; std::getline(in, folder, ':');) out.push_back(folder);
  }
  for (const char* const home : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* const folder = std::getenv(home)) out.push_back(std::string(folder) + "/bin");
  out.emplace_back("/usr/local/cuda/bin");
  return out;
}

std::string ptxas_path(const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    if (const fs::path path = fs::path(folder) / "ptxas"; access(path.c_str(), X_OK) == 0)
      return path.string();
  throw machine::InputError(
      "there is no ptxas in PATH, CUDA_HOME or /usr/local/cuda: it comes with the CUDA Toolkit, and with "
      "pip install nvidia-cuda-nvcc, whose folder nvidia/cu13/bin is then to be in PATH");
}

namespace {
std::string version_of(const std::string& ptxas) {
  const Folder folder;
  const fs::path said = folder.path / "said";
  ran({ptxas, "--version"}, said);
  return version_in(contents(said));
}

// Without the CUDA lines, whose names stand in sections that reached_from leaves out.
std::string without_cuda_lines(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line); out += line + "\n")
    if (const size_t first = line.find_first_not_of(" \t"); first != std::string::npos)
      if (const std::string_view rest = std::string_view(line).substr(first);
          rest.starts_with(".loc\t") || rest.starts_with(".loc ") || rest.starts_with(".file"))
        line.clear();
  return out;
}

std::string cubin_of(const std::string& text, const std::string& target) {
  const std::string ptxas = ptxas_path();
  const Folder folder;
  const fs::path source = folder.path / "k.ptx", cubin = folder.path / "k.cubin", said = folder.path / "said";
  std::ofstream(source, std::ios::binary) << text;
  if (!ran({ptxas, "-arch=" + target, "-lineinfo", "-o", cubin.string(), source.string()}, said))
    throw machine::InputError("ptxas " + version_of(ptxas) + " (" + ptxas + ") does not take it for " +
                              target + ": " + error_in(contents(said)));
  return contents(cubin);
}

}  // namespace

std::map<int64_t, LineCode> assembled(const std::string& text, const std::string& target) {
  return code_of_lines(cubin_of(text, target));
}

ByPtxas contracted_by_ptxas(const std::string& text, const std::string& entry) {
  const std::string needed = entry.empty() ? text : ptx::reached_from(text, entry);
  const ptx::Module module = ptx::parse(needed);
  const machine::Target target = machine::find_target(module.target);
  constexpr int kOldest = 75;  // that ptxas 13 makes code for
  ByPtxas out;
  out.target = target.arch != nullptr && target.arch->sm >= kOldest ? module.target : "sm_90";
  out.version = version_of(ptxas_path());
  out.contracted = contracted(text, module, assembled(without_cuda_lines(needed), out.target));
  return out;
}

Assembly assembly_by_ptxas(const std::string& text, const std::string& entry, int sm) {
  const std::string needed = ptx::reached_from(text, entry);
  Assembly out;
  out.target = ptx::parse(needed).target;
  if (!out.target.empty() && std::isdigit(static_cast<unsigned char>(out.target.back())) != 0)
    out.target = "sm_" + std::to_string(sm);
  out.version = version_of(ptxas_path());
  const std::string cubin = cubin_of(without_cuda_lines(needed), out.target);
  const std::vector<CodeWord> code = instructions_of(cubin);
  out.lines = opcodes_of_lines(code);
  out.waits = loads_waited_for(code);
  out.registers = registers_of(cubin, entry);
  return out;
}

}  // namespace bitwell::contraction
