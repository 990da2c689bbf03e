#!/usr/bin/env bash
# `bitwell run --device --json` where kernels print: its standard output is JSON alone. Against a driver that prints as a GPU's
# does, and computes nothing. Usage: device_json_test.sh BITWELL
set -u
bitwell=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() {
  echo "FAILED: $*"
  exit 1
}
cat > driver.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long address;
#define NOTHING(name) int name(void) { return 0; }
NOTHING(cuInit) NOTHING(cuDeviceGet) NOTHING(cuDevicePrimaryCtxRetain) NOTHING(cuDevicePrimaryCtxRelease_v2)
NOTHING(cuCtxSetCurrent) NOTHING(cuModuleLoadDataEx) NOTHING(cuModuleUnload) NOTHING(cuModuleGetFunction)
NOTHING(cuFuncSetAttribute) NOTHING(cuLaunchKernelEx) NOTHING(cuTensorMapEncodeTiled) NOTHING(cuTensorMapEncodeIm2col)
NOTHING(cuGetErrorName) NOTHING(cuStreamCreate) NOTHING(cuStreamDestroy_v2) NOTHING(cuStreamSynchronize)
NOTHING(cuStreamQuery) NOTHING(cuModuleGetGlobal_v2) NOTHING(cuStreamBeginCapture_v2) NOTHING(cuStreamEndCapture)
NOTHING(cuGraphInstantiateWithFlags) NOTHING(cuGraphLaunch) NOTHING(cuGraphDestroy) NOTHING(cuGraphExecDestroy)
NOTHING(cuEventCreate) NOTHING(cuEventDestroy_v2) NOTHING(cuEventRecord) NOTHING(cuEventElapsedTime_v2)
NOTHING(cuFuncGetAttribute) NOTHING(cuOccupancyMaxActiveBlocksPerMultiprocessor) NOTHING(cuOccupancyMaxActiveClusters)
NOTHING(cuMemcpyDtoDAsync_v2) NOTHING(cuMemsetD8Async) NOTHING(cuStreamWaitEvent)
int cuDeviceGetName(char* name, int size, int device) { return snprintf(name, size, "no GPU %d", device) < 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) { return (*value = attribute == 75 ? 9 : device) < 0; }
int cuDriverGetVersion(int* value) { return (*value = 13000) < 0; }
int cuMemAlloc_v2(address* at, size_t bytes) { return (*at = (address)malloc(bytes)) == 0; }
int cuMemFree_v2(address at) { return free((void*)at), 0; }
int cuMemsetD8_v2(address at, unsigned char value, size_t bytes) { return memset((void*)at, value, bytes) == NULL; }
int cuMemcpyHtoD_v2(address to, const void* from, size_t bytes) { return memcpy((void*)to, from, bytes) == NULL; }
int cuMemcpyDtoH_v2(void* to, address from, size_t bytes) { return memcpy(to, (void*)from, bytes) == NULL; }
int cuCtxSynchronize(void) { return printf("{\nof the GPU\n") < 0; }
C
cc -shared -fPIC -o libcuda.so.1 driver.c || fail "the driver does not compile"
cat > copy.ptx <<'P'
.version 9.0
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 to) { .reg .b64 %d; ld.param.u64 %d, [to]; st.global.u32 [%d], 7; ret; }
P
echo '{"ptx": "copy.ptx", "entry": "copy", "arguments": [{"buffer": "to", "unwritten": 4, "output": "to.bin"}]}' > l.json
LD_LIBRARY_PATH=$work "$bitwell" run l.json --device --json > out 2> err
[ $? -eq 1 ] || fail "not 1: $(cat out err)"
python3 -c 'import json, sys; f = json.load(open("out")); sys.exit(f["on_device"]["outputs"][0]["equal"])' || fail "out: $(cat out)"
grep -q "of the GPU" err || fail "what it printed is lost: $(cat err)"
LD_LIBRARY_PATH=$work "$bitwell" run l.json --device > out
[ $? -eq 1 ] || fail "not 1: $(cat out)"
grep -q "of the GPU" out || fail "what it printed is not shown: $(cat out)"
grep -q "to: differs at byte 0, element \[0\]: 0x07 here, 0xff on the GPU" out || fail "out: $(cat out)"
echo "all held"
