// Textures and surfaces of a launch file.
#include "verify/launch/file/launch_reader.h"

namespace bitwell::launch {

namespace {

// Texels of a dimension that has not the array to itself: all that CUDA takes, and the product of all of them
// stays in the range of addresses.
constexpr int kSizeBits = 18;

}  // namespace

void LaunchReader::texture(const Fields<Of::texture>& f) {
  machine::Texture t;
  t.name = f.text("texture");
  for (const auto& [other, over] : textures_)
    if (other.name == t.name) f.refuse("there is another texture '" + t.name + "'");
  const size_t over = known_buffer(f.text("over"), f.where());
  t.channel = machine::kChannels[named(machine::kChannels, f.text("format"), f.where())];
  const auto some = [&](const char* key, bool given, uint64_t n) {
    if (given && n == 0) f.refuse("'" + std::string(key) + "' is 0");
    return n;
  };
  t.channels = static_cast<uint32_t>(f.whole("channels"));
  if (t.channels != 1 && t.channels != 2 && t.channels != 4)
    f.refuse("'channels' is " + std::to_string(t.channels) + ", it must be 1, 2 or 4");
  t.size = {some("width", true, f.whole("width")), some("height", f.has("height"), f.whole("height", 1)),
            some("depth", f.has("depth"), f.whole("depth", 1))};
  if (f.has("height") && t.size[0] >> kSizeBits != 0)
    f.refuse("'width' holds " + std::to_string(t.size[0]) + ", beside a 'height' it must be below 2^" +
             std::to_string(kSizeBits));
  t.layers = some("layers", f.has("layers"), f.whole("layers"));
  t.dimensions = f.has("depth") ? 3 : f.has("height") ? 2 : 1;
  if (t.dimensions == 3 && !f.has("height")) f.refuse("it has a 'depth' and no 'height'");
  if (t.dimensions == 3 && t.layers != 0) f.refuse("it has both 'depth' and 'layers'");
  t.boundary.fill(machine::kBoundaries[named(machine::kBoundaries, f.text("address"), f.where())].boundary);
  t.linear = f.text("filter") == "linear";
  t.normalized_coordinates = f.flag("normalized_coordinates");
  t.normalized_values = f.flag("normalized_values");
  const Buffer& b = file_.launch.buffers[over];
  if (t.bytes() > b.size())
    f.refuse("'" + t.name + "' has " + std::to_string(t.bytes()) + " bytes, '" + b.name + "' has " +
             std::to_string(b.size()));
  textures_.emplace_back(t, over);
}

LaunchReader::Bytes LaunchReader::image(const std::string& name, bool surface,
                                        const std::string& where) const {
  for (const auto& [t, over] : textures_)
    if (t.name == name) {
      Pointer handle{0, over, 0};
      handle.texture = t;
      handle.texture->surface = surface;
      return {std::vector<std::byte>(8), {handle}};
    }
  refuse(where + ": 'textures' has no '" + name + "'");
}

}  // namespace bitwell::launch
