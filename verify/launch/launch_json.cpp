#include "verify/launch/launch_json.h"

#include "model/json/parse.h"
#include "verify/launch/launch_reader.h"

namespace bitwell::verify {

isa::Shape LaunchReader::shape(const json& j, const std::string& where) const {
  isa::Shape out;
  out.grid = triple(j, "grid");
  out.block = triple(j, "block");
  out.cluster = triple(j, "cluster");
  if (j.contains("dynamic_shared_bytes"))
    out.dynamic_shared = whole(j.at("dynamic_shared_bytes"), "dynamic_shared_bytes");
  if (j.contains("registers")) {
    out.registers = whole(j.at("registers"), "registers");
    if (out.registers == 0) refuse(where + ": 'registers' is 0, leave it out where they are not known");
  }
  out.cooperative = flag(j, "cooperative", where);
  return out;
}

LaunchFile LaunchReader::read() {
  file_.inputs.push_back(path_);
  const json j = [&] {
    try {
      return strict_json::parse(read_file(path_));
    } catch (const strict_json::JsonError& e) {
      throw machine::InputError("'" + path_ + "' is not JSON that can be used: " + e.what());
    }
  }();
  allow(j,
        {"ptx", "entry", "grid", "block", "cluster", "dynamic_shared_bytes", "registers", "cooperative",
         "buffers", "textures", "heap", "arguments", "variables", "then"},
        "the launch");
  file_.launch.ptx = input(text(j, "ptx", "the launch"));
  file_.launch.entry = text(j, "entry", "the launch");
  file_.launch.shape = shape(j, "the launch");
  const json& hidden = list(j, "buffers");
  for (size_t i = 0; i < hidden.size(); ++i) buffer(hidden[i], "buffer " + std::to_string(i));
  if (j.contains("heap")) file_.launch.heap = size(j, "heap", "the launch");
  const json& textures = list(j, "textures");
  for (size_t i = 0; i < textures.size(); ++i) texture(textures[i], "texture " + std::to_string(i));
  const json& arguments = list(j, "arguments");
  for (size_t i = 0; i < arguments.size(); ++i)
    argument(arguments[i], "argument " + std::to_string(i), file_.launch.arguments);
  const json& variables = list(j, "variables");
  for (size_t i = 0; i < variables.size(); ++i) variable(variables[i], "variable " + std::to_string(i));
  const json& then = list(j, "then");
  for (size_t i = 0; i < then.size(); ++i)
    file_.launch.then.push_back(step(then[i], "then, step " + std::to_string(i)));
  for (const Filled& f : filled_) fill(f);
  for (const Factored& f : factored_) product(f);
  return std::move(file_);
}

Step LaunchReader::step(const json& j, const std::string& where) {
  if (!j.is_object()) refuse(where + " must be an object");
  Step out;
  const auto bytes_in = [&](const json& of, const char* key, size_t buffer, uint64_t bytes) {
    const uint64_t at = of.contains(key) ? size(of, key, where) : 0;
    const Buffer& b = file_.launch.buffers[buffer];
    if (at > b.size() || bytes > b.size() - at)
      refuse(where + ": " + std::to_string(bytes) + " bytes at " + std::to_string(at) + " of '" + b.name +
             "', which has " + std::to_string(b.size()));
    return at;
  };
  const auto how_many = [&](const json& of, size_t buffer) {
    return of.contains("bytes") ? size(of, "bytes", where) : file_.launch.buffers[buffer].size();
  };
  if (j.contains("copy")) {
    allow(j, {"copy"}, where);
    const json& c = j.at("copy");
    allow(c, {"from", "to", "from_offset", "to_offset", "bytes"}, where + ", copy");
    Step::Copy copy{};
    copy.from = known_buffer(text(c, "from", where), where);
    copy.to = known_buffer(text(c, "to", where), where);
    copy.bytes = how_many(c, copy.from);
    copy.from_offset = bytes_in(c, "from_offset", copy.from, copy.bytes);
    copy.to_offset = bytes_in(c, "to_offset", copy.to, copy.bytes);
    out.copy = copy;
    return out;
  }
  if (j.contains("fill")) {
    allow(j, {"fill"}, where);
    const json& f = j.at("fill");
    allow(f, {"buffer", "offset", "bytes", "value"}, where + ", fill");
    Step::Fill fill{};
    fill.buffer = known_buffer(text(f, "buffer", where), where);
    fill.bytes = how_many(f, fill.buffer);
    fill.offset = bytes_in(f, "offset", fill.buffer, fill.bytes);
    if (f.contains("value"))
      fill.value = static_cast<std::byte>(whole_below(f.at("value"), where + ": 'value'", 8));
    out.fill = fill;
    return out;
  }
  allow(j,
        {"ptx", "entry", "grid", "block", "cluster", "dynamic_shared_bytes", "registers", "cooperative",
         "programmatic_stream_serialization", "arguments"},
        where);
  out.programmatic = flag(j, "programmatic_stream_serialization", where);
  const std::vector<Step>& before = file_.launch.then;
  if (out.programmatic && !before.empty() && (before.back().copy || before.back().fill))
    refuse(where + ": 'programmatic_stream_serialization' is of a launch right behind another one");
  out.ptx = j.contains("ptx") ? input(text(j, "ptx", where)) : file_.launch.ptx;
  out.entry = text(j, "entry", where);
  out.shape = shape(j, where);
  const json& arguments = list(j, "arguments");
  for (size_t i = 0; i < arguments.size(); ++i)
    argument(arguments[i], where + ", argument " + std::to_string(i), out.arguments);
  return out;
}

LaunchFile read_launch(const std::string& path) { return LaunchReader(path).read(); }

}  // namespace bitwell::verify
