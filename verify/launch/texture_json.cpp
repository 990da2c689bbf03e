// Textures and surfaces of a launch file.
#include "verify/launch/launch_reader.h"

namespace bitwell::verify {

namespace {

// Texels of a dimension, of one that has the array to itself, of depth, and layers: all that CUDA takes, and
// their product stays in the range of addresses.
constexpr int kSizeBits = 18;
constexpr int kOnlyBits = 29;
constexpr int kDepthBits = 15;
constexpr int kLayerBits = 12;

}  // namespace

void LaunchReader::texture(const json& j, const std::string& where) {
  allow(j,
        {"texture", "over", "format", "channels", "width", "height", "depth", "layers", "address", "filter",
         "normalized_coordinates", "normalized_values"},
        where);
  machine::Texture t;
  t.name = text(j, "texture", where);
  for (const auto& [other, over] : textures_)
    if (other.name == t.name) refuse(where + ": there is another texture '" + t.name + "'");
  const size_t over = known_buffer(text(j, "over", where), where);
  t.channel = machine::kChannels[named(machine::kChannels, text(j, "format", where), where)];
  const auto count = [&](const char* key, uint64_t preset, int bits) {
    const uint64_t n = j.contains(key) ? whole_below(j.at(key), where + ": '" + key + "'", bits) : preset;
    if (j.contains(key) && n == 0) refuse(where + ": '" + std::string(key) + "' is 0");
    return n;
  };
  t.channels = static_cast<uint32_t>(count("channels", 1, 8));
  if (t.channels != 1 && t.channels != 2 && t.channels != 4)
    refuse(where + ": 'channels' is " + std::to_string(t.channels) + ", it must be 1, 2 or 4");
  if (!j.contains("width")) refuse(where + " has no 'width'");
  t.size = {count("width", 1, j.contains("height") ? kSizeBits : kOnlyBits), count("height", 1, kSizeBits),
            count("depth", 1, kDepthBits)};
  t.layers = count("layers", 0, kLayerBits);
  t.dimensions = j.contains("depth") ? 3 : j.contains("height") ? 2 : 1;
  if (t.dimensions == 3 && !j.contains("height")) refuse(where + " has a 'depth' and no 'height'");
  if (t.dimensions == 3 && t.layers != 0) refuse(where + " has both 'depth' and 'layers'");
  const auto boundary = [&](const std::string& name) {
    std::string known;
    for (const machine::BoundaryName& b : machine::kBoundaries) {
      if (b.name == name) return b.boundary;
      known += (known.empty() ? "" : ", ") + std::string(b.name);
    }
    refuse(where + ": address '" + name + "' is not one of " + known);
  };
  t.boundary.fill(boundary(text(j, "address", where, "clamp")));
  const std::string filter = text(j, "filter", where, "nearest");
  if (filter != "nearest" && filter != "linear")
    refuse(where + ": filter '" + filter + "' is not one of nearest, linear");
  t.linear = filter == "linear";
  t.normalized_coordinates = flag(j, "normalized_coordinates", where);
  t.normalized_values = flag(j, "normalized_values", where);
  const Buffer& b = file_.launch.buffers[over];
  if (t.bytes() > b.size())
    refuse(where + ": '" + t.name + "' has " + std::to_string(t.bytes()) + " bytes, '" + b.name + "' has " +
           std::to_string(b.size()));
  textures_.emplace_back(t, over);
}

LaunchReader::Bytes LaunchReader::image(const json& j, const std::string& where) const {
  const bool surface = j.contains("surface");
  const char* key = surface ? "surface" : "texture";
  allow(j, {key}, where);
  const std::string name = text(j, key, where);
  for (const auto& [t, over] : textures_)
    if (t.name == name) {
      Pointer handle{0, over, 0};
      handle.texture = t;
      handle.texture->surface = surface;
      return {std::vector<std::byte>(8), {handle}};
    }
  refuse(where + ": 'textures' has no '" + name + "'");
}

}  // namespace bitwell::verify
