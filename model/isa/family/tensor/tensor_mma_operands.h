// What tcgen05.mma multiplies, as codes: from shared memory, through matrix descriptors, and from tensor
// memory.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "model/isa/family/tensor/tensor_mma.h"

namespace bitwell::isa {

// One CTA's `rows` rows of A from its shared memory, [row][k].
std::vector<uint32_t> a_from_shared(const run::Port& port, run::Cta& cta, const TensorMmaUse& use,
                                    const TensorMma& mma, uint32_t rows);
// `rows` rows of A from tensor memory, [row][k]: row i in lane `lane` + i.
std::vector<uint32_t> a_from_tensor(const run::Port& port, TensorUnit& unit, const TensorMma& mma,
                                    uint32_t lane, uint32_t rows);
// All columns of B, [column][k]: each CTA's share behind that of the one before. Of .ws forms they are moved,
// and zeros where they are masked, whatever stands there.
std::vector<uint32_t> b_from_shared(const run::Port& port, std::span<run::Cta* const> ctas,
                                    const TensorMmaUse& use, const TensorMma& mma);
// Where a code of an operand stands in a CTA's memory, and who wrote it last, as far as the cluster has noted
// it. In shared memory, through its matrix descriptor: A's element (row, k) of the CTA's share, or B's (`a`
// false) of column `row`; in tensor memory: A's element k in lane `lane`.
Collectors::Standing in_shared(run::Cta& cta, const TensorMmaUse& use, const TensorMma& mma, bool a,
                               size_t row, size_t k);
Collectors::Standing in_tensor(run::Cta& cta, const TensorMma& mma, uint32_t lane, size_t k);
// The scales of `rows` rows from `first` on, [row][scale], as one data path (quarter) reads them. `what`: of
// which operand, for messages.
std::vector<uint8_t> scales(const run::Port& port, TensorUnit& unit, const TensorMma& mma,
                            machine::TensorPlace at, uint32_t id, uint32_t first, uint32_t rows,
                            uint32_t quarter, const char* what);

}  // namespace bitwell::isa
