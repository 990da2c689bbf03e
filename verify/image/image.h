// Code as programs and compilers hand it over: PTX as text, a fat binary, a cubin, an object file or a
// program. What of it is PTX.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitwell::image {

struct Image {
  std::vector<std::string> ptx{};
  std::vector<std::string> kept{};          // PTX that machine code was made of, without comments
  std::vector<std::string> machine_code{};  // "sm_100": of which no PTX was kept
  std::vector<std::string> entries{};       // of that machine code
  std::vector<std::string> trouble{};       // what could not be read, and why
  std::vector<Image> objects{};             // of what it was linked of (nvcc -rdc=true), one a source
};

// Whether the bytes begin as any of those does that are not text.
bool is_binary(std::span<const std::byte> bytes);

// Everything of it. Text ends at its first NUL.
Image read(std::span<const std::byte> bytes);

// What stands at an address that a program hands over without a size: as far as memory can be read, and no
// further than what an image may have.
std::span<const std::byte> readable(const void* image);

// Everything of that, and of what it was linked of, which a program that was linked hands over too.
Image read_at(const void* image);

// The newest compute capabilities that an image has code for, of what holds PTX and of what does not: its
// heads alone are read. 0: there is none.
struct Newest {
  int ptx = 0, machine_code = 0;
};
Newest newest_at(const void* image);

struct Wanted {
  int sm = 0;  // a device of this compute capability; 0: the newest that there is PTX for
  std::string folder =
      "";  // where PTX of machine code without any may lie, *.ptx by the names of its entries
};

// Those for that device which were made for the newest target: one, where the image is of one source. Of what
// was linked, each object's, joined where they need one another. Throws InputError saying what there is
// instead, and which switch of which tool makes PTX.
std::vector<std::string> candidates(const Image& image, const Wanted& wanted = {});

// The only one of them. Throws InputError where there are more.
std::string ptx_of(std::span<const std::byte> bytes, const Wanted& wanted = {});

// What to say where one was wanted, and these are there.
std::string several(const std::vector<std::string>& found);

// The switches by which tools keep PTX in what they make, in one sentence.
std::string_view switches();

}  // namespace bitwell::image
