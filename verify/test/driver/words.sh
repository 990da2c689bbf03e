#!/usr/bin/env bash
# What bitwell says, in one line, of each mistake of driver/conformance/mistakes.cpp: words.sh CONFORMANCE LIBRARY
said=$("$1" "$2" 2>&1 >/dev/null) || exit 1
status=0
while IFS= read -r line; do
  grep -qE "^bitwell: $line\$" <<<"$said" || { echo "nobody says: $line"; status=1; }
done <<'END'
cuMemcpyDtoH: the source is at 0x[0-9a-f]+, where no memory is allocated \('device[0-9]+' was freed\)
cuMemcpyHtoD: the destination is at 0x[0-9a-f]+, where no memory is allocated \('device[0-9]+' was freed\)
cuMemsetD32: the destination is at 0x[0-9a-f]+, where no memory is allocated \('device[0-9]+' was freed\)
cuMemFree: 'device[0-9]+' was freed before
cuMemcpyDtoH: the source is at 0x[0-9a-f]+, where no memory is allocated
cuMemFree: no memory was allocated at 0x[0-9a-f]+
cuMemcpyHtoD: the destination is 4194304 bytes at byte 0 of 'device[0-9]+', which has 1000
cuMemcpyDtoH: the source is 4194304 bytes at byte 0 of 'device[0-9]+', which has 1000
cuMemcpyDtoD: the (source|destination) is 4194304 bytes at byte 0 of 'device[0-9]+', which has 1000
cuLaunchKernel: kernel scale is of a module of another context
cuMemAlloc: the thread's context was destroyed
cuMemAlloc: the thread has no current context \(cuCtxSetCurrent\)
cuLaunchKernel: kernel scale takes 20 bytes of parameters, 8 are given
cuModuleGetFunction: the module has no kernel 'absent'
cuModuleGetGlobal: the module has no variable 'absent'
cuMemAlloc: the process was forked from one that had initialised CUDA, .*
END
exit $status
