#include "verify/capture/packed.h"

#include <lzma.h>

#include "model/machine/failure.h"
#include "verify/launch/launch.h"
#include "verify/launch/output/output_files.h"

namespace bitwell::capture {
namespace {

constexpr uint64_t kMostMemory = uint64_t{1} << 28;  // bytes, to decompress
constexpr size_t kMostUnpacked = size_t{1} << 25;    // bytes

}  // namespace

std::string read_packed(const std::string& path) {
  const std::string packed = launch::read_file(path);
  std::string out(kMostUnpacked, '\0');
  uint64_t memory = kMostMemory;
  size_t in = 0;
  size_t size = 0;
  if (lzma_stream_buffer_decode(&memory, 0, nullptr, reinterpret_cast<const uint8_t*>(packed.data()), &in,
                                packed.size(), reinterpret_cast<uint8_t*>(out.data()), &size,
                                out.size()) != LZMA_OK ||
      in != packed.size())
    throw machine::InputError("'" + path + "' is no xz file, or a damaged one, or text of more than 32 MiB");
  out.resize(size);
  return out;
}

void write_packed(const std::string& path, const std::string& what, const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  if (lzma_easy_buffer_encode(9, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const uint8_t*>(text.data()),
                              text.size(), reinterpret_cast<uint8_t*>(out.data()), &size,
                              out.size()) != LZMA_OK)
    throw machine::ModelBug(what + " cannot be compressed");
  out.resize(size);
  launch::replace_file(path, what, out);
}

}  // namespace bitwell::capture
