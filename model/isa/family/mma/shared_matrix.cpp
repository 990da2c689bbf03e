#include "model/isa/family/mma/shared_matrix.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "model/machine/failure.h"
#include "model/run/watch/definedness.h"

namespace bitwell::isa {

namespace {

constexpr uint32_t kChunk = 16;  // bytes

uint32_t elements_in_chunk(const SharedMatrix& m) {
  const auto bits = static_cast<uint32_t>(m.bits);
  const uint32_t each = m.packing == Packing::padded ? 16 : 8 * kChunk / bits;
  const bool whole = each * bits == 8 * kChunk;
  if (each * bits % 8 != 0 || each * bits > 8 * kChunk || (m.packing == Packing::dense && !whole))
    throw machine::ModelBug("a matrix of elements of " + std::to_string(bits) +
                            " bits packed as it cannot be");
  return each;
}

// Calls visit(row, k) for the first element of every 16 bytes that are read.
template <class Visit>
void each_chunk(const SharedMatrix& m, uint32_t each, Visit visit) {
  const auto skipped = [&](size_t row, size_t count) {
    const auto end = m.skipped.begin() + static_cast<std::ptrdiff_t>(std::min(row + count, m.skipped.size()));
    return !m.skipped.empty() &&
           std::all_of(m.skipped.begin() + static_cast<std::ptrdiff_t>(row), end, [](bool s) { return s; });
  };
  if (m.mn_major) {
    for (uint32_t k = 0; k < m.k; ++k)
      for (uint32_t row = 0; row < m.rows; row += each)
        if (!skipped(row, each)) visit(row, k);
  } else {
    for (uint32_t row = 0; row < m.rows; ++row) {
      if (skipped(row, 1)) continue;
      for (uint32_t k = 0; k < m.k; k += each) visit(row, k);
    }
  }
}

// Where they are.
std::vector<uint32_t> places_of(const SharedMatrix& m, uint32_t each) {
  std::vector<uint32_t> at;
  at.reserve(m.mn_major ? (m.rows + each - 1) / each * m.k : m.rows * ((m.k + each - 1) / each));
  // K-major, eight rows are like the eight before, one stride on, where that is whole periods of the swizzle
  // and no address wraps.
  constexpr uint32_t kPeriod = 1024, kWrap = 1 << 18;
  const machine::MatrixDescriptor& d = m.descriptor;
  const bool repeats = !m.mn_major && m.skipped.empty() && m.rows % 8 == 0 && d.stride % kPeriod == 0 &&
                       d.start + m.rows / 8 * d.stride + (m.k / each) * std::max(d.leading, kChunk) < kWrap;
  SharedMatrix first = m;
  if (repeats) first.rows = 8;
  each_chunk(first, each,
             [&](uint32_t row, uint32_t k) { at.push_back(machine::chunk_of(d, m.mn_major, each, row, k)); });
  if (repeats)
    for (size_t i = 0, eight = at.size(); at.size() < eight * (m.rows / 8); ++i)
      at.push_back(at[i] + d.stride);
  return at;
}

template <class Element>
void widen(std::span<const std::byte> bytes, uint32_t* codes) {
  for (size_t i = 0; i < bytes.size() / sizeof(Element); ++i) {
    Element e;
    std::memcpy(&e, &bytes[i * sizeof e], sizeof e);
    codes[i] = e;
  }
}

// The codes of chunk after chunk.
void open_chunks(uint32_t bits, uint32_t each, std::span<const std::byte> bytes, uint32_t* codes) {
  if (each * bits == 8 * kChunk) {
    if (bits == 32) return widen<uint32_t>(bytes, codes);
    if (bits == 16) return widen<uint16_t>(bytes, codes);
    if (bits == 8) return widen<uint8_t>(bytes, codes);
    if (bits == 4) {
      for (size_t i = 0; i < bytes.size(); ++i) {
        codes[2 * i] = static_cast<uint32_t>(bytes[i] & std::byte{15});
        codes[2 * i + 1] = static_cast<uint32_t>(bytes[i] >> 4);
      }
      return;
    }
  }
  for (size_t first = 0; first < bytes.size(); first += kChunk) {
    std::byte chunk[kChunk + 8] = {};  // room for the last element's eight
    std::memcpy(chunk, &bytes[first], kChunk);
    for (uint32_t i = 0; i < each; ++i) {
      uint64_t word = 0;
      std::memcpy(&word, chunk + i * bits / 8, 8);
      *codes++ = static_cast<uint32_t>(word >> (i * bits % 8) & ((uint64_t{1} << bits) - 1));
    }
  }
}

}  // namespace

SharedBytes shared_bytes(const run::Port& port, run::Cta& cta) {
  const machine::Region& shared = cta.shared;
  return {shared.size(),
          [&port, &shared](std::span<const uint32_t> at, std::byte* bytes, uint8_t* defined) {
            const uint64_t base = shared.base();
            const auto each_piece = [=](auto visit) {
              for (size_t i = 0; i < at.size(); ++i) visit(base + at[i], i * kChunk, uint64_t{kChunk});
            };
            port.gather(shared, each_piece, bytes, defined);
          },
          [&cta](uint64_t at) {
            const uint64_t address = cta.shared.base() + at;
            const machine::Agent* copy = cta.cluster.filling(address, kChunk);
            return copy == nullptr ? "" : run::under_way(cta.cluster, *copy, address);
          },
          port.follow(),
          shared.base(),
          [&cta](uint64_t at) {
            const std::string name = cta.cluster.shared_name(cta.shared.base() + at);
            return name[0] == '\'' ? "; that is " + name.substr(0, name.find(" (")) : "";
          }};
}

std::vector<std::byte> fetch(const SharedBytes& shared, std::span<const uint32_t> at, uint32_t filled,
                             const char* instruction, const char* what) {
  for (const uint32_t a : at)
    if (uint64_t{a} + kChunk > shared.size)
      throw machine::Fault(std::string("the matrix descriptor of ") + what + " leads to byte " +
                           std::to_string(a) + " of shared memory, which has " + std::to_string(shared.size) +
                           " bytes");
  std::vector<std::byte> bytes(at.size() * kChunk);
  const auto defined = std::make_unique_for_overwrite<uint8_t[]>(bytes.size());
  shared.read(at, bytes.data(), defined.get());
  if (machine::all_written(defined.get(), bytes.size())) return bytes;
  for (size_t i = 0; i < at.size(); ++i) {
    if (machine::all_written(&defined[i * kChunk], filled)) continue;
    if (shared.follow == nullptr) {
      const std::string copy = shared.filling(at[i]);
      machine::Fault out(std::string(instruction) + " reads " + what + " at byte " + std::to_string(at[i]) +
                         " of shared memory, which was never written" + copy +
                         (shared.variable ? shared.variable(at[i]) : ""));
      if (copy.empty())  // else it is known who is to write there
        out.access = {"uninitialized read", "shared::cta", shared.base + at[i], filled, ""};
      throw out;
    }
    shared.follow->used_here(what);
  }
  return bytes;
}

std::vector<std::byte> read_chunks(const SharedBytes& shared, const SharedMatrix& m) {
  const uint32_t each = elements_in_chunk(m);
  return fetch(shared, places_of(m, each), each * static_cast<uint32_t>(m.bits) / 8, m.instruction, m.what);
}

std::vector<uint32_t> codes_of(const SharedMatrix& m, std::span<const std::byte> chunks) {
  const auto bits = static_cast<uint32_t>(m.bits);
  const uint32_t each = elements_in_chunk(m);
  std::vector<uint32_t> codes(m.rows * m.k);
  if (!m.mn_major && m.k % each == 0 && m.skipped.empty()) {  // chunks are in the codes' order
    open_chunks(bits, each, chunks, codes.data());
    return codes;
  }
  std::vector<uint32_t> opened(chunks.size() / kChunk * each);
  open_chunks(bits, each, chunks, opened.data());
  const uint32_t* chunk = opened.data();
  each_chunk(m, each, [&](uint32_t row, uint32_t k) {
    if (m.mn_major)
      for (uint32_t i = 0; i < each && row + i < m.rows; ++i) codes[(row + i) * m.k + k] = chunk[i];
    else
      std::copy_n(chunk, std::min<size_t>(each, m.k - k), &codes[row * m.k + k]);
    chunk += each;
  });
  return codes;
}

std::vector<uint32_t> read_matrix(const SharedBytes& shared, const SharedMatrix& m) {
  return codes_of(m, read_chunks(shared, m));
}

}  // namespace bitwell::isa
