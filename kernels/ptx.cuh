// One wrapper per PTX instruction, named for it. The files of ptx/ are the only place with inline PTX.
#pragma once
#include "ptx/arithmetic.cuh"
#include "ptx/cluster.cuh"
#include "ptx/copy.cuh"
#include "ptx/mbarrier.cuh"
#include "ptx/shared.cuh"
#include "ptx/wgmma.cuh"
