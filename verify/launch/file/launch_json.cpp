#include "verify/launch/file/launch_json.h"

#include "model/strict_json/parse.h"
#include "verify/launch/file/launch_reader.h"

namespace bitwell::launch {

run::Shape LaunchReader::shape(const Fields<Of::shape>& f) {
  run::Shape out;
  out.grid = f.extents("grid");
  out.block = f.extents("block");
  out.cluster = f.extents("cluster");
  out.explicit_cluster = f.has("cluster");
  out.non_portable_cluster = f.flag("non_portable_cluster");
  out.dynamic_shared = static_cast<uint32_t>(f.whole("dynamic_shared_bytes"));
  out.registers = static_cast<uint32_t>(f.whole("registers"));
  if (f.has("registers") && out.registers == 0)
    f.refuse("'registers' is 0, leave it out where they are not known");
  out.cooperative = f.flag("cooperative");
  return out;
}

Measured LaunchReader::measured(const Fields<Of::measured>& f) {
  return {f.text("device"),    f.number("us"),       f.number("least_us"),
          f.number("most_us"), f.number("empty_us"), f.whole("launches")};
}

namespace {

// What users give in a launch's place, and what to do with it; empty of anything else.
std::string something_else(const std::string& path, std::string_view text) {
  if (text.starts_with("\x7f"
                       "ELF"))
    return "'" + path +
           "' is machine code (ELF), not a launch: bitwell exec -- PROGRAM runs a program, and "
           "bitwell check reads the PTX inside";
  if (text.find(".version ") != text.npos && text.find(".target ") != text.npos)
    return "'" + path + "' is PTX, not a launch: bitwell init '" + path + "' writes one, to be filled in";
  return "";
}

}  // namespace

LaunchFile LaunchReader::read() {
  file_.inputs.push_back(path_);
  const std::string text = read_file(path_);
  const json j = [&] {
    try {
      return strict_json::parse(text);
    } catch (const strict_json::JsonError& e) {
      if (const std::string what = something_else(path_, text); !what.empty())
        throw machine::InputError(what);
      throw machine::InputError("'" + path_ + "' is not JSON that can be used: " + e.what());
    }
  }();
  try {
    schema::refuse_placeholders(j);
    launch(Fields<Of::launch>(j, "the launch"));
  } catch (const schema::Refused& e) {
    refuse(e.what());
  }
  return std::move(file_);
}

void LaunchReader::launch(const Fields<Of::launch>& f) {
  file_.launch.ptx = input(f.text("ptx"));
  file_.launch.entry = f.text("entry");
  file_.launch.shape = shape(f.as<Of::shape>());
  file_.launch.fmad = f.flag("fmad");
  if (f.has("heap")) file_.launch.heap = f.whole("heap");
  if (f.has("measured"))
    file_.launch.measured = measured(Fields<Of::measured>(f.raw("measured"), "the launch, measured"));
  const auto each = [](const std::vector<json>& objects, const std::string& what, auto read) {
    for (size_t i = 0; i < objects.size(); ++i) read(objects[i], what + " " + std::to_string(i));
  };
  each(f.objects("buffers"), "buffer", [&](const json& j, const std::string& where) { buffer(j, where); });
  each(f.objects("textures"), "texture",
       [&](const json& j, const std::string& where) { texture(Fields<Of::texture>(j, where)); });
  each(f.objects("arguments"), "argument",
       [&](const json& j, const std::string& where) { argument(j, where, file_.launch.arguments); });
  each(f.objects("variables"), "variable",
       [&](const json& j, const std::string& where) { variable(j, where); });
  each(f.objects("then"), "then, step",
       [&](const json& j, const std::string& where) { file_.launch.then.push_back(step(j, where)); });
  for (const Filled& filled : filled_) fill(filled);
  for (const Factored& factored : factored_) product(factored);
}

void LaunchReader::within(size_t buffer, uint64_t at, uint64_t bytes, const std::string& where) const {
  const Buffer& b = file_.launch.buffers[buffer];
  if (at > b.size() || bytes > b.size() - at)
    refuse(where + ": " + std::to_string(bytes) + " bytes at " + std::to_string(at) + " of '" + b.name +
           "', which has " + std::to_string(b.size()));
}

Step::Copy LaunchReader::copy(const Fields<Of::copy>& f) const {
  Step::Copy out{};
  out.from = known_buffer(f.text("from"), f.where());
  out.to = known_buffer(f.text("to"), f.where());
  out.bytes = f.whole("bytes", file_.launch.buffers[out.from].size());
  out.from_offset = f.whole("from_offset");
  out.to_offset = f.whole("to_offset");
  within(out.from, out.from_offset, out.bytes, f.where());
  within(out.to, out.to_offset, out.bytes, f.where());
  return out;
}

Step::Fill LaunchReader::fill(const Fields<Of::fill>& f) const {
  Step::Fill out{};
  out.buffer = known_buffer(f.text("buffer"), f.where());
  out.bytes = f.whole("bytes", file_.launch.buffers[out.buffer].size());
  out.offset = f.whole("offset");
  out.value = static_cast<std::byte>(f.whole("value"));
  within(out.buffer, out.offset, out.bytes, f.where());
  return out;
}

Step LaunchReader::step(const json& j, const std::string& where) {
  Step out;
  const Of what = schema::which(j, Of::step, where);
  if (what == Of::copy_step) {
    const Fields<Of::copy_step> f(j, where);
    out.copy = copy(Fields<Of::copy>(f.raw("copy"), where + ", copy"));
    return out;
  }
  if (what == Of::fill_step) {
    const Fields<Of::fill_step> f(j, where);
    out.fill = fill(Fields<Of::fill>(f.raw("fill"), where + ", fill"));
    return out;
  }
  const Fields<Of::following> f(j, where);
  out.programmatic = f.flag("programmatic_stream_serialization");
  const std::vector<Step>& before = file_.launch.then;
  if (out.programmatic && !before.empty() && (before.back().copy || before.back().fill))
    f.refuse("'programmatic_stream_serialization' is of a launch right behind another one");
  out.ptx = f.has("ptx") ? input(f.text("ptx")) : file_.launch.ptx;
  out.entry = f.text("entry");
  out.shape = shape(f.as<Of::shape>());
  const std::vector<json> arguments = f.objects("arguments");
  for (size_t i = 0; i < arguments.size(); ++i)
    argument(arguments[i], where + ", argument " + std::to_string(i), out.arguments);
  return out;
}

LaunchFile read_launch(const std::string& path, bool fmad) {
  LaunchFile file = LaunchReader(path).read();
  file.launch.fmad = file.launch.fmad || fmad;
  if (file.launch.fmad) file.fused = fuse(file.launch);
  return file;
}

}  // namespace bitwell::launch
