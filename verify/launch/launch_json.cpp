#include "verify/launch/launch_json.h"

#include "model/json/parse.h"
#include "verify/launch/launch_reader.h"

namespace bitwell::verify {

LaunchFile LaunchReader::read() {
  file_.inputs.push_back(path_);
  const json j = [&] {
    try {
      return strict_json::parse(read_file(path_));
    } catch (const strict_json::JsonError& e) {
      refuse(std::string("it is not JSON that can be used: ") + e.what());
    }
  }();
  allow(j,
        {"ptx", "entry", "grid", "block", "cluster", "dynamic_shared_bytes", "cooperative", "buffers",
         "arguments", "variables"},
        "the launch");
  file_.launch.ptx = input(text(j, "ptx", "the launch"));
  file_.launch.entry = text(j, "entry", "the launch");
  isa::Shape& shape = file_.launch.shape;
  shape.grid = triple(j, "grid");
  shape.block = triple(j, "block");
  shape.cluster = triple(j, "cluster");
  if (j.contains("dynamic_shared_bytes"))
    shape.dynamic_shared = whole(j.at("dynamic_shared_bytes"), "dynamic_shared_bytes");
  shape.cooperative = flag(j, "cooperative", "the launch");
  const json& hidden = list(j, "buffers");
  for (size_t i = 0; i < hidden.size(); ++i) buffer(hidden[i], "buffer " + std::to_string(i), false);
  const json& arguments = list(j, "arguments");
  for (size_t i = 0; i < arguments.size(); ++i) argument(arguments[i], "argument " + std::to_string(i));
  const json& variables = list(j, "variables");
  for (size_t i = 0; i < variables.size(); ++i) variable(variables[i], "variable " + std::to_string(i));
  for (const Filled& f : filled_) fill(f);
  return std::move(file_);
}

LaunchFile read_launch(const std::string& path) { return LaunchReader(path).read(); }

}  // namespace bitwell::verify
