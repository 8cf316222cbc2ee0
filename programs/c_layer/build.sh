#!/bin/sh
# Makes c_layer.elf: the object of layer.s, what C has to know of it, C by gcc (or CC=...), linked by GNU ld.
set -e
cd "$(dirname "$0")"
macaw asm -c layer.s -o layer.o --ld-script layer.ld
macaw header layer.s -o macaw.h
${CC:-riscv64-unknown-elf-gcc} -march=rv32im_zicsr -mabi=ilp32 -ffreestanding -nostdlib -O2 -g \
    -fdebug-prefix-map="$PWD=." -Wl,-z,max-page-size=64 -T layer.ld main.c layer.o -o c_layer.elf
