// Every form that bitwell accepts, by family of instructions.
#pragma once
#include <span>
#include <vector>

#include "model/isa/form/form.h"

namespace bitwell::isa {

std::span<const Form> integer_forms();
std::span<const Form> logic_forms();
std::span<const Form> video_forms();  // of two halves or four bytes
std::span<const Form> scalar_video_forms();
std::span<const Form> float_forms();
std::span<const Form> half_forms();
std::span<const Form> compare_forms();
std::span<const Form> convert_forms();
std::span<const Form> move_forms();
std::span<const Form> memory_forms();
std::span<const Form> hinted_memory_forms();  // with .L2::cache_hint and what comes with it
std::span<const Form> control_forms();
std::span<const Form> barrier_forms();
std::span<const Form> warp_forms();
std::span<const Form> bfloat_forms();
std::span<const Form> mma_forms();
std::span<const Form> mma_exact_forms();
std::span<const Form> wmma_move_forms();
std::span<const Form> wmma_forms();
std::span<const Form> wgmma_forms();
std::span<const Form> mbarrier_forms();
std::span<const Form> cluster_forms();
std::span<const Form> cluster_launch_forms();
std::span<const Form> grid_dependency_forms();
std::span<const Form> copy_forms();
std::span<const Form> tensor_map_forms();
std::span<const Form> matrix_forms();
std::span<const Form> texture_forms();
std::span<const Form> surface_forms();
std::span<const Form> tensor_allocation_forms();
std::span<const Form> tensor_move_forms();
std::span<const Form> tensor_order_forms();
std::span<const Form> tensor_cell_copy_forms();
std::span<const Form> tensor_shift_forms();
std::span<const Form> tensor_mma_forms();

std::vector<const Form*> all_forms();

}  // namespace bitwell::isa
