// Texture objects over linear memory; others bitwell has not.
#include "model/machine/texture.h"

#include <algorithm>
#include <array>

#include "verify/driver/core/sizes.h"
#include "verify/driver/runtime/call.h"

using namespace bitwell::driver;
using bitwell::machine::Boundary;
using bitwell::machine::Texture;

namespace {

[[noreturn]] void refuse(State& s, const std::string& what) {
  s.missing("cudaCreateTextureObject " + what);
  throw Refused(CUDA_ERROR_NOT_SUPPORTED);
}

// Channels are as wide as the first, and there are one, two or four.
void set_channels(State& s, const cudaChannelFormatDesc& f, Texture& to) {
  const std::array bits{f.x, f.y, f.z, f.w};
  const auto none = std::find(bits.begin(), bits.end(), 0);
  to.channels = static_cast<uint32_t>(none - bits.begin());
  if (to.channels == 0 || to.channels == 3 ||
      std::any_of(bits.begin(), none, [&](int b) { return b != f.x; }) ||
      std::any_of(none, bits.end(), [](int b) { return b != 0; }))
    throw Refused(CUDA_ERROR_INVALID_VALUE, "channels of " + std::to_string(f.x) + ", " +
                                                std::to_string(f.y) + ", " + std::to_string(f.z) + " and " +
                                                std::to_string(f.w) + " bits");
  const char kind = f.f == cudaChannelFormatKindFloat      ? 'f'
                    : f.f == cudaChannelFormatKindSigned   ? 's'
                    : f.f == cudaChannelFormatKindUnsigned ? 'u'
                                                           : 0;
  const auto& all = bitwell::machine::kChannels;
  const auto* const channel = std::find_if(all.begin(), all.end(), [&](const auto& c) {
    return c.kind == kind && static_cast<int>(8 * c.bytes) == f.x;
  });
  if (channel == all.end()) refuse(s, "of this format of channels");
  to.channel = *channel;
}

Boundary boundary(cudaTextureAddressMode mode) {
  switch (mode) {
    case cudaAddressModeWrap: return Boundary::wrap;
    case cudaAddressModeMirror: return Boundary::mirror;
    case cudaAddressModeBorder: return Boundary::border;
    default: return Boundary::clamp;
  }
}

Texture texture(State& s, const cudaResourceDesc& r, const cudaTextureDesc& how) {
  Texture out;
  const void* pointer = nullptr;
  if (r.resType == cudaResourceTypeLinear) {
    const auto& linear = r.res.linear;
    set_channels(s, linear.desc, out);
    pointer = linear.devPtr;
    out.size[0] = linear.sizeInBytes / out.texel_bytes();
    // It is read by whole coordinates alone, and is 0 outside.
    out.boundary.fill(Boundary::border);
  } else if (r.resType == cudaResourceTypePitch2D) {
    const auto& rows = r.res.pitch2D;
    set_channels(s, rows.desc, out);
    pointer = rows.devPtr;
    out.dimensions = 2;
    out.size = {rows.width, rows.height, 1};
    out.pitch = rows.pitchInBytes;
    for (size_t d = 0; d < 2; ++d) out.boundary[d] = boundary(how.addressMode[d]);
    out.linear = how.filterMode == cudaFilterModeLinear;
    out.normalized_coordinates = how.normalizedCoords != 0;
    if (out.pitch < times(rows.width, out.texel_bytes())) throw Refused(CUDA_ERROR_INVALID_VALUE);
  } else {
    refuse(s, "of a CUDA array");
  }
  // As CUDA has them (programming guide 13.0, technical specifications); beyond, no product need fit.
  constexpr uint64_t most_texels = uint64_t{1} << 28, most_width = 131072, most_height = 65000,
                     most_pitch = 2097120;
  if (out.size[0] > (out.dimensions == 1 ? most_texels : most_width) || out.size[1] > most_height ||
      out.pitch > most_pitch)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "a texture of " + std::to_string(out.size[0]) + " by " +
                                                std::to_string(out.size[1]) + " texels, rows of " +
                                                std::to_string(out.pitch) +
                                                " bytes, is larger than a device takes");
  if (how.sRGB != 0) refuse(s, "with sRGB");
  if (out.size[0] == 0 || out.size[1] == 0)
    throw Refused(CUDA_ERROR_INVALID_VALUE, "a texture without texels");
  out.normalized_values = how.readMode == cudaReadModeNormalizedFloat && out.channel.kind != 'f';
  out.address = driver(pointer);
  const std::optional<Block> b = s.memory.seen(out.address);
  if (!b || out.bytes() > b->bytes - (out.address - b->address))
    throw Mistake(CUDA_ERROR_INVALID_VALUE,
                  "a texture of " + std::to_string(out.bytes()) + " bytes, " +
                      (!b ? "where no memory is allocated"
                          : "at byte " + std::to_string(out.address - b->address) + " of '" + b->name +
                                "', which has " + std::to_string(b->bytes)));
  out.name = "texture over " + b->name;
  return out;
}

}  // namespace

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}
cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* how, const cudaResourceViewDesc* view) {
  return call("cudaCreateTextureObject", [&](State& s) {
    present(out);
    const Texture made = texture(s, present(resource), present(how));
    if (view != nullptr) refuse(s, "with a view");
    *out = s.process.context().add_texture(made);
  });
}
cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture) {
  return call("cudaDestroyTextureObject", [&](State& s) {
    if (texture != 0) s.process.context().remove_texture(texture);
  });
}

}  // extern "C"
