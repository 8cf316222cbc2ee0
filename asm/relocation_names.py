"""The names of the relocations of RISC-V, as the ELF psABI numbers them."""

from __future__ import annotations

_NAMES = {
    0: "NONE", 1: "32", 2: "64", 3: "RELATIVE", 4: "COPY", 5: "JUMP_SLOT",
    6: "TLS_DTPMOD32", 7: "TLS_DTPMOD64", 8: "TLS_DTPREL32", 9: "TLS_DTPREL64",
    10: "TLS_TPREL32", 11: "TLS_TPREL64", 12: "TLSDESC",
    16: "BRANCH", 17: "JAL", 18: "CALL", 19: "CALL_PLT", 20: "GOT_HI20",
    21: "TLS_GOT_HI20", 22: "TLS_GD_HI20", 23: "PCREL_HI20", 24: "PCREL_LO12_I",
    25: "PCREL_LO12_S", 26: "HI20", 27: "LO12_I", 28: "LO12_S",
    29: "TPREL_HI20", 30: "TPREL_LO12_I", 31: "TPREL_LO12_S", 32: "TPREL_ADD",
    33: "ADD8", 34: "ADD16", 35: "ADD32", 36: "ADD64",
    37: "SUB8", 38: "SUB16", 39: "SUB32", 40: "SUB64", 41: "GOT32_PCREL",
    43: "ALIGN", 44: "RVC_BRANCH", 45: "RVC_JUMP", 51: "RELAX",
    52: "SUB6", 53: "SET6", 54: "SET8", 55: "SET16", 56: "SET32",
    57: "32_PCREL", 58: "IRELATIVE", 59: "PLT32", 60: "SET_ULEB128", 61: "SUB_ULEB128",
    62: "TLSDESC_HI20", 63: "TLSDESC_LOAD_LO12", 64: "TLSDESC_ADD_LO12", 65: "TLSDESC_CALL",
}  # fmt: skip


def relocation_name(kind: int) -> str:
    """Return the name of the R_RISCV_* number `kind`, or a phrase with the number."""
    return f"R_RISCV_{_NAMES[kind]}" if kind in _NAMES else f"relocation of type {kind}"
