#!/bin/sh
# Makes c_vector.elf: the object of vectors.s, what C has to know of it, C by gcc (or CC=...), linked by GNU ld.
set -e
cd "$(dirname "$0")"
macaw asm -c vectors.s -o vectors.o --ld-script vectors.ld
macaw header vectors.s -o macaw.h
${CC:-riscv64-unknown-elf-gcc} -march=rv32im_zicsr -mabi=ilp32 -ffreestanding -nostdlib -O2 -g \
    -fdebug-prefix-map="$PWD=." -Wl,-z,max-page-size=64 -T vectors.ld main.c vectors.o -o c_vector.elf
