# The test programs: which of the tests' files are compiled and run together. Files of one program have one label, and read
# alike what they test. Half a minute of compilation is saved by ten programs less: of a small file by itself two seconds of three go
# into headers, templates and linking, which are the same for all.

# number, ptx, layout, budget, machine: what needs no launch.
bitwell_test(number_test LABEL quick LINK bitwell_number bitwell_oracle
  DEFINE BITWELL_B200_WORDS="${PROJECT_SOURCE_DIR}/verify/device/captures/b200_words.txt"
         BITWELL_WORDS="${PROJECT_SOURCE_DIR}/../shared/data/tensor-core-words"
  SOURCES number/codes_test.cpp number/e3m4_test.cpp number/arithmetic_test.cpp number/accumulation_test.cpp number/special_function_test.cpp
          number/dot_test.cpp number/dot_words_test.cpp number/dot_directed_test.cpp number/dot_tile_test.cpp number/exact_tile_test.cpp)
bitwell_test(codec_test LABEL exhaustive LINK bitwell_number SOURCES number/codec_test.cpp)
bitwell_test(cuda_headers_test LABEL exhaustive LINK bitwell_number HEADERS ${CUDA_INCLUDE} ${CUDA_INCLUDE}/cccl SOURCES number/cuda_headers_test.cpp)
bitwell_test(text_test LABEL quick LINK bitwell_ptx bitwell_image bitwell_strict_json bitwell_budget NEEDS bitwell_test_images
  DEFINE BITWELL_TEST_IMAGES="${BITWELL_TEST_IMAGES}" BITWELL_BUDGETS="${PROJECT_SOURCE_DIR}/model/budget/specs"
  SOURCES ptx/expression_test.cpp ptx/print_parse_test.cpp ptx/inline_assembly_test.cpp ptx/inlined_test.cpp ptx/reach_test.cpp ptx/link_test.cpp
          ptx/refused_test.cpp ptx/linked_test.cpp
          image/image_test.cpp strict_json/parse_test.cpp budget/budget_test.cpp)
bitwell_test(contraction_test LABEL quick LINK bitwell_contraction DEFINE BITWELL_NVCC_FOLDER="${nvcc_folder}"
  SOURCES contraction/contract_test.cpp contraction/ptxas_test.cpp contraction/contracted_test.cpp)
bitwell_test(layout_test LABEL quick LINK bitwell_layout DEFINE BITWELL_CUTE_WORDS="${CMAKE_CURRENT_SOURCE_DIR}/layout/cute.txt"
  SOURCES layout/algebra_test.cpp layout/hardware_test.cpp layout/mn_major_test.cpp)
bitwell_test(machine_test LABEL quick LINK bitwell_capture
  SOURCES machine/regions_test.cpp machine/memory_limits_test.cpp machine/claims_test.cpp machine/claims_joined_test.cpp machine/snapshot_test.cpp
          machine/seldom_state_test.cpp machine/mbarrier_test.cpp machine/tensor_map_test.cpp machine/matrix_descriptor_test.cpp
          machine/descriptor_fields_test.cpp machine/instruction_descriptor_test.cpp machine/tensor_memory_test.cpp
          machine/tensor_map_fields_test.cpp machine/arch_test.cpp machine/tensor_map_bytes_test.cpp)

# Compiled modules, launches, runs.
bitwell_test(context_test LABEL quick LINK bitwell_context HEADERS ${CUDA_INCLUDE}
  SOURCES isa/context/modules_test.cpp isa/context/misuse_test.cpp isa/context/memory_test.cpp isa/context/snapshot_test.cpp
          isa/compile/liveness_test.cpp isa/compile/order_test.cpp isa/compile/accepted_text_test.cpp run/residency_test.cpp)
bitwell_test(launch_test LABEL quick LINK bitwell_test_kernel bitwell_suite
  SOURCES launch/product_test.cpp launch/start_test.cpp launch/launch_reader_test.cpp launch/recording_test.cpp launch/memory_watch_test.cpp
          suite/chain_test.cpp)
bitwell_test(side_by_side_test LABEL quick LINK bitwell_test_kernel
  SOURCES run/side_by_side_test.cpp run/claims_of_copies_test.cpp run/host_threads_test.cpp)
bitwell_test(residents_test LABEL quick LINK bitwell_test_kernel bitwell_capture NEEDS bitwell_test_ptx
  SOURCES run/residents_test.cpp run/polls_test.cpp run/journals_test.cpp run/took_test.cpp run/dependents_test.cpp run/heap_test.cpp
          isa/memory/texture_test.cpp)
bitwell_test(numeric_test LABEL quick LINK bitwell_test_kernel
  SOURCES run/numeric_test.cpp run/numeric_matrix_test.cpp run/numeric_lanes_test.cpp run/lanes_test.cpp run/follow_test.cpp run/follow_tensor_test.cpp
          run/places_test.cpp)
bitwell_test(timing_test LABEL quick COST 15 LINK bitwell_test_kernel bitwell_cost_probe bitwell_study bitwell_kernel_hosts NEEDS bitwell_kernels
  DEFINE BITWELL_KERNELS="${PROJECT_BINARY_DIR}/share/bitwell/kernels" BITWELL_PROBES="${PROJECT_SOURCE_DIR}/experiments/results/time_probes.csv"
  SOURCES timing/table_test.cpp timing/timed_test.cpp timing/timed_ahead_test.cpp timing/timed_waits_test.cpp timing/doors_test.cpp
          timing/probes_test.cpp timing/sample_test.cpp timing/spread_test.cpp timing/held_back_test.cpp timing/machine_code_test.cpp timing/own_table_test.cpp
          timing/kinds_test.cpp timing/sectors_test.cpp timing/loops_test.cpp timing/launches_test.cpp timing/with_code_test.cpp timing/crowd_test.cpp timing/neighbours_test.cpp timing/dram_test.cpp)

# Instructions.
bitwell_test(isa_test LABEL quick LINK bitwell_test_kernel bitwell_verify NEEDS bitwell_test_ptx bitwell_kernels
  SOURCES isa/whole/ordinary_test.cpp isa/whole/faults_test.cpp isa/memory/boundary_test.cpp isa/memory/definedness_test.cpp
          isa/scalar/known_bits_test.cpp isa/scalar/testp_test.cpp isa/control/known_lanes_test.cpp isa/mma/known_elements_test.cpp
          isa/whole/twins_test.cpp isa/whole/float_twins_test.cpp isa/mma/wgmma_test.cpp isa/control/hang_test.cpp isa/control/schedule_test.cpp isa/copy/starved_stores_test.cpp
          isa/copy/under_way_test.cpp isa/compile/operand_places_test.cpp isa/scalar/approximate_test.cpp isa/whole/causes_test.cpp
          isa/whole/unusual_faults_test.cpp isa/mma/unknown_product_test.cpp)
bitwell_test(memory_test LABEL quick LINK bitwell_test_kernel bitwell_verify
  SOURCES isa/memory/memory_test.cpp isa/memory/row_access_test.cpp isa/memory/reserved_shared_test.cpp
          isa/memory/unsure_test.cpp)
bitwell_test(taken_test LABEL quick LINK bitwell_test_kernel bitwell_findings bitwell_verify
  DEFINE BITWELL_MET_ELSEWHERE="${CMAKE_CURRENT_SOURCE_DIR}/isa/control/met_elsewhere.txt"
  SOURCES isa/copy/same_copies_test.cpp isa/copy/plain_copies_test.cpp isa/control/ended_threads_test.cpp isa/control/register_counts_test.cpp
          isa/control/mapped_rank_test.cpp isa/copy/zero_map_test.cpp isa/memory/shared_address_test.cpp isa/copy/cache_policy_test.cpp
          isa/copy/copy_lines_test.cpp isa/copy/line_moves_test.cpp isa/control/met_elsewhere_test.cpp)
bitwell_test(seldom_test LABEL quick LINK bitwell_test_kernel
  SOURCES isa/copy/seldom_copies_test.cpp isa/copy/tensor_reduce_test.cpp isa/memory/seldom_accesses_test.cpp isa/whole/seldom_values_test.cpp
          isa/tensor/seldom_tensor_test.cpp run/seldom_runs_test.cpp run/seldom_schedules_test.cpp isa/control/seldom_control_test.cpp)
bitwell_test(access_tables_test LABEL quick LINK bitwell_test_kernel
  DEFINE BITWELL_VIDEO="${CMAKE_CURRENT_SOURCE_DIR}/isa/scalar/video.txt"
  SOURCES isa/copy/copy_tasks_test.cpp isa/copy/copy_edges_test.cpp isa/copy/tensor_edges_test.cpp isa/memory/atomic_values_test.cpp
          isa/memory/preempted_accesses_test.cpp isa/memory/surface_table_test.cpp isa/memory/wide_values_test.cpp isa/scalar/carry_test.cpp
          isa/scalar/approximate_bounds_test.cpp isa/scalar/video_test.cpp)
bitwell_test(tensor_memory_test LABEL quick LINK bitwell_test_kernel bitwell_probe bitwell_session
  DEFINE BITWELL_B200_WORDS="${PROJECT_SOURCE_DIR}/verify/device/captures/b200_words.txt"
  SOURCES isa/tensor/tensor_memory_test.cpp isa/tensor/tensor_mma_test.cpp isa/tensor/tensor_mma_options_test.cpp isa/tensor/tensor_shift_test.cpp
          isa/tensor/tensor_order_test.cpp isa/tensor/tensor_copy_test.cpp isa/tensor/tensor_end_test.cpp isa/tensor/tensor_collector_test.cpp
          isa/tensor/tensor_follow_test.cpp isa/tensor/tensor_allocation_test.cpp isa/mma/narrow_mma_test.cpp)
bitwell_test(blackwell_test LABEL quick LINK bitwell_test_kernel
  DEFINE BITWELL_B200_CONVERSIONS="${CMAKE_CURRENT_SOURCE_DIR}/isa/scalar/b200_conversions.txt" BITWELL_WMMA_TF32="${CMAKE_CURRENT_SOURCE_DIR}/isa/mma/wmma_tf32.txt"
  SOURCES isa/control/cluster_launch_test.cpp isa/scalar/blackwell_values_test.cpp isa/tensor/tensor_rows_test.cpp
          isa/scalar/narrow_conversion_test.cpp isa/mma/narrow_matrix_test.cpp isa/copy/pair_multicast_test.cpp isa/copy/im2col_rank_test.cpp
          isa/control/warp_values_test.cpp isa/mma/wmma_test.cpp isa/mma/wmma_rows_test.cpp isa/copy/im2col_test.cpp)
bitwell_test(limits_test LABEL quick COST 20 LINK bitwell_test_kernel bitwell_verify DEFINE BITWELL_PTXAS="${PTXAS}"
  SOURCES isa/whole/limits_test.cpp isa/whole/launch_limits_test.cpp isa/memory/port_test.cpp isa/control/stops_test.cpp)
bitwell_test(forms_test LABEL quick LINK bitwell_test_kernel bitwell_capture
  DEFINE BITWELL_PTXAS="${PTXAS}" BITWELL_NEAR_MISSES="${CMAKE_CURRENT_SOURCE_DIR}/isa/form/near_misses.txt"
  SOURCES isa/form/generated_forms_test.cpp isa/form/uses_test.cpp isa/form/unit_test.cpp isa/form/near_misses_test.cpp isa/form/refused_test.cpp
          isa/scalar/approximate_double_test.cpp)
# Those that ask ptxas.
bitwell_test(ptxas_test LABEL ptxas COST 20 LINK bitwell_test_kernel bitwell_program bitwell_verify bitwell_kernel_hosts
  NEEDS bitwell_test_ptx bitwell_kernels
  DEFINE BITWELL_PTXAS="${PTXAS}" BITWELL_KERNELS_README="${PROJECT_SOURCE_DIR}/kernels/README.md"
  SOURCES isa/form/blackwell_forms_test.cpp isa/form/texture_forms_test.cpp isa/form/modifier_order_test.cpp isa/form/mutations_test.cpp
          isa/whole/programs_test.cpp suite/dense_table_test.cpp)
# Those that read captures of GPUs.
bitwell_test(capture_test LABEL quick LINK bitwell_test_kernel bitwell_verify
  SOURCES capture/tuples_test.cpp capture/evidence_test.cpp capture/words_test.cpp)
bitwell_test(instructions_test LABEL capture COST 40 LINK bitwell_test_kernel bitwell_verify DEFINE BITWELL_PTXAS="${PTXAS}"
  SOURCES isa/whole/instructions_test.cpp isa/whole/tensor_test.cpp isa/tensor/tensor_mma_shapes_test.cpp isa/copy/async_test.cpp
          suite/tensor_test.cpp)

# What watches runs.
bitwell_test(checker_test LABEL quick LINK bitwell_test_kernel bitwell_hazard
  SOURCES hazard/checker/places_test.cpp hazard/checker/conflict_test.cpp hazard/checker/order_test.cpp hazard/checker/mbarriers_test.cpp
          hazard/checker/fences_test.cpp hazard/checker/drawn_test.cpp hazard/checker/operations_test.cpp hazard/checker/stores_test.cpp
          hazard/checker/rows_test.cpp hazard/checker/blocks_test.cpp hazard/checker/held_by_hand_test.cpp
          hazard/checker/operations_by_hand_test.cpp hazard/checker/rows_by_hand_test.cpp
          hazard/checker/pieces_by_hand_test.cpp hazard/shadow_by_hand_test.cpp
          hazard/checker/proxies_by_hand_test.cpp)
bitwell_test(knowledge_test LABEL quick LINK bitwell_test_kernel bitwell_hazard
  SOURCES hazard/shadow_test.cpp hazard/finding_list_test.cpp hazard/readers_test.cpp hazard/knowledge_test.cpp run/watch_test.cpp
          hazard/checker/groups_test.cpp hazard/checker/wgmma_registers_test.cpp hazard/page_table_test.cpp)
bitwell_test(objects_test LABEL quick LINK bitwell_hazard bitwell_compile
  SOURCES hazard/objects_test.cpp hazard/mma_registers_test.cpp hazard/local_pointers_test.cpp hazard/handed_over_test.cpp
          hazard/seldom_flow_test.cpp hazard/ways_test.cpp)
set(catalogue BITWELL_CATALOGUE="${PROJECT_SOURCE_DIR}/verify/bugs/catalogue/kernels")
bitwell_test(hazard_test LABEL quick LINK bitwell_test_kernel bitwell_catalogue bitwell_schedules
  DEFINE ${catalogue} BITWELL_PEERS="${PROJECT_SOURCE_DIR}/verify/bugs/catalogue/peers"
         BITWELL_RACES_PAGE="${PROJECT_SOURCE_DIR}/docs/races.md" BITWELL_BUGS_PAGE="${PROJECT_SOURCE_DIR}/verify/bugs/README.md"
  SOURCES hazard/catalogue_test.cpp hazard/both_sides_test.cpp hazard/peers_test.cpp hazard/races_page_test.cpp explore/catalogue_test.cpp)
bitwell_test(apart_test LABEL quick COST 20 LINK bitwell_test_kernel bitwell_catalogue bitwell_session DEFINE ${catalogue}
  SOURCES hazard/apart_test.cpp hazard/passed_over_test.cpp hazard/held_back_test.cpp hazard/told_as_rows_test.cpp)
if(NOT BITWELL_SANITIZE)  # whose allocator is another than the one that is measured
  bitwell_test(race_memory_test LABEL quick LINK bitwell_yardsticks bitwell_capture NEEDS bitwell_kernels SOURCES hazard/memory_test.cpp)
endif()
bitwell_test(explore_test LABEL quick LINK bitwell_test_kernel bitwell_schedules
  SOURCES explore/traces_test.cpp explore/outcomes_test.cpp explore/partial_barriers_test.cpp explore/pct_test.cpp explore/parts_test.cpp
          explore/footprints_test.cpp explore/witness_test.cpp)
bitwell_test(unlucky_test LABEL quick LINK bitwell_test_kernel bitwell_catalogue bitwell_device
  DEFINE ${catalogue} BITWELL_DEVICE_COUNTS="${PROJECT_SOURCE_DIR}/verify/bugs/catalogue/device.csv"
         BITWELL_BUGS_PAGE="${PROJECT_SOURCE_DIR}/verify/bugs/README.md"
  SOURCES unlucky/delay_test.cpp unlucky/between_test.cpp unlucky/device_counts_test.cpp device/children_test.cpp device/beside_test.cpp)

# Questions and commands.
bitwell_test(session_test LABEL quick LINK bitwell_test_kernel bitwell_session
  SOURCES session/session_test.cpp session/judgement_test.cpp session/orders_test.cpp session/process_test.cpp session/later_writer_test.cpp
          hazard/dependency_test.cpp)
# Of the command line, and of the driver, what can be called without a process; command/ has the rest.
bitwell_test(cli_test LABEL quick LINK bitwell_session bitwell_asked nlohmann_json::nlohmann_json ${BITWELL_FMT}
  HEADERS ${CLI11_INCLUDE} ${CUDA_INCLUDE}
  SOURCES cli/run_arguments_test.cpp cli/mistake_test.cpp cli/junit_test.cpp
          ${PROJECT_SOURCE_DIR}/verify/cli/run/run_arguments.cpp ${PROJECT_SOURCE_DIR}/verify/cli/shell/mistake.cpp
          ${PROJECT_SOURCE_DIR}/verify/cli/shell/tree.cpp ${PROJECT_SOURCE_DIR}/verify/cli/report/junit.cpp
          ${PROJECT_SOURCE_DIR}/verify/cli/report/xml.cpp ${PROJECT_SOURCE_DIR}/verify/cli/whole.cpp
          driver/not_run_test.cpp driver/device_row_test.cpp ${PROJECT_SOURCE_DIR}/verify/driver/core/not_run.cpp)
bitwell_sees(cli_test PRIVATE verify/cli)
bitwell_sees(cli_test PRIVATE verify/driver)

# Kernels and their cases.
bitwell_test(suite_test LABEL quick COST 50 LINK bitwell_test_kernel bitwell_verify bitwell_kernel_hosts nlohmann_json::nlohmann_json
  NEEDS bitwell bitwell_kernels DEFINE BITWELL_COMMAND="$<TARGET_FILE:bitwell>"
  SOURCES suite/suite_test.cpp suite/operand_test.cpp suite/case_test.cpp problem/contest_test.cpp suite/gemv_test.cpp
          number/accumulation_tile_test.cpp suite/quantise_test.cpp suite/quantise_reciprocal_test.cpp suite/activation_test.cpp)
bitwell_test(dense_test LABEL capture COST 50 DRAWS 40 LINK bitwell_test_kernel bitwell_verify bitwell_kernel_hosts NEEDS bitwell_kernels
  DEFINE BITWELL_KERNELS="${PROJECT_SOURCE_DIR}/kernels"
  SOURCES suite/dense_test.cpp suite/dense_epilogue_test.cpp suite/published_test.cpp)
bitwell_test(gemm_test LABEL capture COST 50 DRAWS 40 LINK bitwell_test_kernel bitwell_verify NEEDS bitwell_kernels
  SOURCES suite/gemm_test.cpp suite/gemv_ring_test.cpp suite/cause_test.cpp)
bitwell_test(verdict_test LABEL verdict COST 40 DRAWS 40 LINK bitwell_test_kernel bitwell_verify bitwell_budget bitwell_kernel_hosts NEEDS bitwell_kernels
  SOURCES suite/dual_test.cpp suite/grouped_test.cpp suite/hopper_test.cpp suite/rtx_test.cpp suite/svdquant_test.cpp
          suite/svdquant_campaign_test.cpp suite/occupied_test.cpp hazard/suites_test.cpp)
bitwell_test(study_test LABEL capture COST 20 LINK bitwell_study DEFINE BITWELL_RESULTS="${PROJECT_SOURCE_DIR}/experiments/results"
  SOURCES study/study_test.cpp journal/parts_test.cpp)
bitwell_test(bugs_test LABEL quick COST 10 LINK bitwell_mutation NEEDS bitwell_kernels SOURCES bugs/bugs_test.cpp bugs/campaign_test.cpp)
bitwell_test(prove_test LABEL quick COST 20 LINK bitwell_prove NEEDS bitwell_kernels SOURCES prove/prove_test.cpp)

# Those that have private names in common with another file of their program, each compiled by itself. (Files of one make, as the tests
# of one kernel family and the next, have a namespace each.)
set_source_files_properties(
  isa/tensor/tensor_copy_test.cpp
  isa/tensor/tensor_rows_test.cpp
  run/numeric_matrix_test.cpp
  PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)

# Kernels of copies, mbarriers, tensor memory, clusters and textures, each held to what its instructions say that they touch (kernel.h).
foreach(program blackwell_test tensor_memory_test taken_test memory_test numeric_test)
  add_test(NAME uses_in.${program} COMMAND ${program} --gtest_filter=-TensorOrder.*:RowAccess.*:*EveryShape*:*EveryKind*)
  set_tests_properties(uses_in.${program} PROPERTIES LABELS quick ENVIRONMENT BITWELL_USES=1)
endforeach()

# Longer runs of the same: `ctest -L campaign`.
function(bitwell_campaign name program filter)
  cmake_parse_arguments(ARG "" "TIMEOUT" "ENVIRONMENT" ${ARGN})
  add_test(NAME ${name}_campaign COMMAND ${program} --gtest_filter=${filter})
  set_tests_properties(${name}_campaign PROPERTIES LABELS campaign TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT "${ARG_ENVIRONMENT}"
                       SKIP_REGULAR_EXPRESSION "  SKIPPED ")
endfunction()
bitwell_campaign(codec codec_test * ENVIRONMENT BITWELL_EXHAUSTIVE=1 TIMEOUT 7200)
bitwell_campaign(blackwell_forms ptxas_test BlackwellForms.TheListSays* ENVIRONMENT BITWELL_FORMS=all TIMEOUT 3600)
# Of a ptxas from PyPI that knows PTX 9.1 to 9.5: BITWELL_NEWER_PTXAS.
bitwell_campaign(mutations_newer ptxas_test Mutations.*Newer* ENVIRONMENT BITWELL_MUTATIONS=10000 TIMEOUT 3600)
bitwell_campaign(modifier_order ptxas_test ModifierOrder.* ENVIRONMENT BITWELL_SPELLINGS=20 BITWELL_ORDERS=30 TIMEOUT 3600)
bitwell_campaign(limits limits_test Limits.Ptxas* ENVIRONMENT BITWELL_LIMITS=all TIMEOUT 600)
bitwell_campaign(gemv_recorded gemm_test Verdict* ENVIRONMENT BITWELL_RECORDED=all TIMEOUT 7200)
bitwell_campaign(dense dense_test Dense.ARandomLaunch* ENVIRONMENT RC_PARAMS=max_success=5000 TIMEOUT 7200)
bitwell_campaign(gemm gemm_test Gemm.ARandomLaunch* ENVIRONMENT RC_PARAMS=max_success=5000 TIMEOUT 7200)
bitwell_campaign(kernels verdict_test *.ARandomLaunch* ENVIRONMENT RC_PARAMS=max_success=1000 TIMEOUT 7200)
bitwell_campaign(dense_waits dense_test DenseVerdict.NoWaitCanBeLeftOut ENVIRONMENT BITWELL_WAITS=all TIMEOUT 7200)
bitwell_campaign(svdquant verdict_test SvdquantCampaign* ENVIRONMENT BITWELL_SVDQUANT_ROWS=4352 TIMEOUT 86400)
