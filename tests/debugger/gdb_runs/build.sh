#!/bin/sh
# Makes the executables of stepped.c that gdb debugs in the tests; they are kept, so that the tests need no compiler.
set -e
cd "$(dirname "$0")"
for level in O0 O2; do
    riscv64-unknown-elf-gcc -march=rv32im_zicsr -mabi=ilp32 -mno-relax -ffreestanding -nostdlib -$level -g \
        -fdebug-prefix-map="$PWD=." -Wl,-Ttext=0x10000,-z,max-page-size=64,-e,_start stepped.c -o stepped_$level.elf
done
