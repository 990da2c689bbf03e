/* Makes the tensor maps of tile.json as a host program does, and writes them to a.map and b.map. */
#include <bitwell/tensor_map.h>
#include <stdio.h>

static int make(const char* path, uint64_t rows, uint32_t box_rows) {
  const uint64_t dims[2] = {128, rows}, strides[1] = {256};
  const uint32_t box[2] = {64, box_rows}, steps[2] = {1, 1};
  bitwell_tensor_map map;
  /* The address does not matter here: LAUNCH.json says over which buffer a map lies. */
  if (bitwell_tensor_map_encode_tiled(&map, BITWELL_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 0, dims, strides, box, steps,
                                      BITWELL_TENSOR_MAP_INTERLEAVE_NONE, BITWELL_TENSOR_MAP_SWIZZLE_128B,
                                      BITWELL_TENSOR_MAP_L2_PROMOTION_NONE, BITWELL_TENSOR_MAP_OOB_FILL_NONE) != 0) {
    fprintf(stderr, "%s: %s\n", path, bitwell_tensor_map_message());
    return 1;
  }
  FILE* file = fopen(path, "wb");
  return file == 0 || fwrite(&map, sizeof map, 1, file) != 1 || fclose(file) != 0;
}

int main(void) { return make("a.map", 128, 128) | make("b.map", 64, 64); }
