#include "model/isa/family/families.h"

namespace bitwell::isa {

std::vector<const Form*> all_forms() {
  std::vector<const Form*> out;
  for (const auto family : {integer_forms(),      logic_forms(),          float_forms(),
                            half_forms(),         convert_forms(),        move_forms(),
                            memory_forms(),       hinted_memory_forms(),  control_forms(),
                            barrier_forms(),      warp_forms(),           bfloat_forms(),
                            mma_forms(),          mma_exact_forms(),      wmma_move_forms(),
                            wmma_forms(),         wgmma_forms(),          mbarrier_forms(),
                            cluster_forms(),      cluster_launch_forms(), grid_dependency_forms(),
                            copy_forms(),         tensor_map_forms(),     matrix_forms(),
                            texture_forms(),      surface_forms(),        compare_forms(),
                            tensor_move_forms(),  tensor_order_forms(),   tensor_cell_copy_forms(),
                            tensor_shift_forms(), tensor_mma_forms(),     tensor_allocation_forms(),
                            video_forms(),        scalar_video_forms()})
    for (const Form& form : family) out.push_back(&form);
  return out;
}

}  // namespace bitwell::isa
