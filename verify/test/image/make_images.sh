#!/usr/bin/env bash
# One source in everything that PTX may stand in, into the current folder. Usage: make_images.sh NVCC FOLDER_OF_ITS_PROGRAMS SOURCE
set -eu
nvcc=$1 programs=$2 source=$3
"$nvcc" -ptx -arch=sm_90a -lineinfo "$source" -o scale.ptx
"$nvcc" -c -gencode arch=compute_90a,code=sm_90a -lineinfo "$source" -o scale.o
"$programs/ptxas" -arch sm_90a -lineinfo scale.ptx -o lines.cubin
"$nvcc" -ptx -arch=sm_90a -lineinfo "$(dirname "$source")/inlined.cu" -o inlined.ptx
"$programs/ptxas" -arch sm_90a -lineinfo inlined.ptx -o inlined.cubin
sed '/\.loc\|\.file/d' scale.ptx > plain.ptx  # with such lines ptxas keeps PTX without being asked
"$programs/ptxas" -arch sm_90a plain.ptx -o bare.cubin
pack() { "$programs/fatbinary" -64 --create="$1" "${@:2}"; }
for mode in none speed balance size; do
  pack $mode.fatbin --compress-mode=$mode --image3=kind=ptx,sm=90a,file=scale.ptx --image3=kind=elf,sm=90a,file=lines.cubin
done
sed 's/sm_90a/sm_100a/' scale.ptx > newer.ptx
sed 's/sm_90a/sm_80/' scale.ptx > older.ptx
sed 's/scale/twice/' scale.ptx > twice.ptx
pack targets.fatbin --image3=kind=ptx,sm=80,file=older.ptx --image3=kind=ptx,sm=100a,file=newer.ptx --image3=kind=ptx,sm=90a,file=scale.ptx
pack two.fatbin --image3=kind=ptx,sm=90a,file=scale.ptx --image3=kind=ptx,sm=90a,file=twice.ptx
