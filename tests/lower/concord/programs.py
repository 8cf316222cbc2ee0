"""Random programs of nnp: chains that keep the rules, and tensors for what they read."""

import numpy as np

from isa.codec import Decoded, decode, describe, encode
from isa.config import Configuration, load
from isa.nnp import CORE, RESET
from isa.nnp_chains import ChainError, complete, follow
from isa.nnp_entries import check, flow
from isa.nnp_layouts import BY_NAME
from lower.concord.hints import HOST_TYPES

ROWS = {row.mnemonic: row for row in CORE.instructions}
VECTORS = ("InitialVrf", "MulVrf", "AddSubVrf0", "AddSubVrf1")
NET_OUT = BY_NAME["NetOutQ"].code
DRAM = 96  # native vectors
ENTRIES = 12  # of each register file, so that programs meet what they wrote


def one(mnemonic, **values):
    word = encode(ROWS[mnemonic], values)
    found = decode(CORE, word)
    assert isinstance(found, Decoded)
    return found


class Writer:
    """Writes a program; `config` is the device's."""

    def __init__(self, rng, config):
        self.rng, self.config = rng, config
        self.lines, self.scalars = [], dict(RESET)
        self.tiles = 0
        self.pops = self.pushes = 0  # native vectors

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def upto(self, most, least=0):
        return int(self.rng.integers(least, most + 1))

    def set(self, **values):
        for name, value in values.items():
            if self.scalars[name] != value:
                self.lines.append(f"        s_wr {name}, {value}")
                self.scalars[name] = value

    def chain(self, rows):
        """Put a chain down; False if it breaks a rule."""
        try:
            follow(rows)
            complete(rows)
            check(rows, self.scalars, self.config)
        except ChainError:
            return False
        self.lines += [f"        {describe(row)}" for row in rows]
        count = self.scalars["iterations"] * flow(rows, self.scalars)[-1]
        self.pushes += count * sum(row.values.get("mem") == NET_OUT for row in rows)
        return True

    def addressed(self, mnemonic, memory=None, **more):
        """A row or its _inc form, at a random address."""
        values = {"a": self.upto(ENTRIES - 1)} if memory != "NetInQ" and memory != "NetOutQ" else {}
        values.setdefault("a", 0)
        if memory is not None:
            values["mem"] = BY_NAME[memory].code
        if memory not in ("NetInQ", "NetOutQ") and self.rng.random() < 0.4:
            return one(f"{mnemonic}_inc", **values, inc=self.upto(2), **more)
        return one(mnemonic, **values, **more)

    def matrix(self, source):
        rows, cols = self.upto(2, 1), self.upto(3, 1)
        self.set(rows=rows, cols=cols, iterations=1)
        read = one("m_rd", mem=BY_NAME[source].code, a=self.tiles if source == "Dram" else 0)
        write = one("m_wr", mem=BY_NAME["MatrixRf"].code, a=self.tiles)
        assert self.chain([read, write])
        self.tiles += rows * cols

    def vector(self):
        """A chain of vectors, any; whether it kept the rules."""
        source = self.pick("NetInQ", "NetOutQ", "Dram", *VECTORS, *VECTORS)
        if source == "NetOutQ":
            source = "InitialVrf"
        windows = {}
        if self.rng.random() < 0.25 and source != "NetInQ":
            windows = {
                "width": self.upto(4, 2), "height": self.upto(3, 1), "kernel": self.upto(2, 1),
                "stride": self.upto(2, 1), "pad": self.upto(1), "depth": self.upto(2, 1),
            }  # fmt: skip
        plain = {
            name: RESET[name] for name in ("width", "height", "kernel", "stride", "pad", "depth")
        }
        sizes = plain | windows
        product = self.rng.random() < 0.5
        cols = self.upto(3, 1)
        read = self.addressed("v_rd", source)
        iterations = self.pick(1, 1, 2, 3)
        if windows:
            across = (sizes["width"] + 2 * sizes["pad"] - sizes["kernel"]) // sizes["stride"] + 1
            down = (sizes["height"] + 2 * sizes["pad"] - sizes["kernel"]) // sizes["stride"] + 1
            iterations = max(across, 0) * max(down, 0)
            if iterations < 1:
                return False
            if "inc" not in read.values:
                cols = sizes["kernel"] ** 2 * sizes["depth"]
        rows = self.upto(2, 1)
        if product and rows * cols > self.tiles:
            return False
        before = dict(self.scalars), list(self.lines)
        self.set(rows=rows, cols=cols, iterations=iterations, valid=self.upto(cols * 2, 1), **sizes)
        found = [read]
        if product:
            found.append(one("mv_mul", m=self.upto(self.tiles - rows * cols)))
        for unit in (0, 1):
            does = [self.pick("vv_add", "vv_a_sub_b", "vv_b_sub_a", "vv_max"), "activate"]
            does += ["vv_mul"] if unit == 0 else []
            self.rng.shuffle(does)
            for item in does[: self.upto(len(does))]:
                if item == "activate":
                    found.append(one(self.pick("v_sigm", "v_tanh", "v_relu", "v_softmax")))
                elif item == "vv_mul":
                    found.append(self.addressed(item))
                else:
                    found.append(self.addressed(item, f"AddSubVrf{unit}"))
        for place in self.rng.permutation([*VECTORS, "NetOutQ", "NetOutQ", "Dram"])[
            : self.upto(2, 1)
        ]:
            found.append(self.addressed("v_wr", str(place)))
        if self.chain(found):
            self.pops += iterations * cols if source == "NetInQ" else 0
            return True
        self.scalars, self.lines = before
        return False


def program(rng, config, chains=8, repeats=1):
    """The source of a program: matrices and vectors in, chains `repeats` times, vectors out."""
    writer = Writer(rng, config)
    for _ in range(writer.upto(3, 1)):
        writer.matrix("NetInQ")
    writer.pops = writer.tiles * config["nnp.native"]
    writer.set(rows=1, cols=ENTRIES, iterations=1)
    for name in VECTORS:  # so that chains have something to work with
        write = one("v_wr", mem=BY_NAME[name].code, a=0)
        assert writer.chain([one("v_rd", mem=BY_NAME["NetInQ"].code, a=0), write])
        writer.pops += ENTRIES
    begin = [f"        s_wr {name}, {value}" for name, value in writer.scalars.items()]
    start, before = len(writer.lines), writer.pops
    done = 0
    while done < chains:
        done += writer.vector()
    body = [f"        .rept {repeats}", *begin, *writer.lines[start:], "        .endr"]
    pops = before + repeats * (writer.pops - before)
    pushes = repeats * writer.pushes
    del writer.lines[start:]
    writer.set(**{**RESET, "cols": ENTRIES})
    reset = [f"        s_wr {name}, {value}" for name, value in writer.scalars.items()]
    for name in ("InitialVrf", "AddSubVrf0"):
        reset += [f"        v_rd {name}, 0", "        v_wr NetOutQ"]
    dtype, native = HOST_TYPES[config["nnp.host_format"]], config["nnp.native"]
    head = [
        "        .data",
        f"dram:   .array  {dtype}, {DRAM}, {native}  # external memory begins here, and so does Dram",
        f"        .input  taken, {dtype}, {pops}, {native}, at=netin",
        f"        .output given, {dtype}, {pushes + 2 * ENTRIES}, {native}, at=netout",
        "        .core   nnp",
    ]
    lines = [*head, "_start:", *writer.lines[:start], *body, *reset, "        end_chain"]
    return "\n".join(lines) + "\n"


def device(rng):
    """A small device with any quantisers and switches."""
    small = {
        "nnp.native": int(rng.choice([1, 2, 4])),
        "nnp.host_format": str(rng.choice(["fp16", "fp32"])),
        "nnp.quantise": str(rng.choice(["bfp", "bfp", "int", "log", "float"])),
        "nnp.vector_bits": int(rng.integers(3, 17)),
        "nnp.matrix_bits": int(rng.integers(3, 17)),
        "nnp.float_exponent_bits": int(rng.integers(2, 6)),
        "nnp.float_mantissa_bits": int(rng.integers(1, 11)),
        "nnp.quantise_mvm_out": bool(rng.random() < 0.3),
        "nnp.quantise_mfu_in": bool(rng.random() < 0.3),
    }
    return Configuration("random", {**load("tiny"), **small})


def tensors(rng, found):
    """Host numbers of mixed sizes for what a layer takes: zeros and large ones, some infinite."""
    data, most = {}, int(rng.choice([3, 3, 14]))
    for name, tensor in found.inputs.items():
        x = rng.normal(size=tensor.shape) * 2.0 ** rng.integers(-6, most, tensor.shape)
        data[name] = np.where(rng.random(tensor.shape) < 0.2, 0, x).astype(found.dtype)
        if most > 3 and rng.random() < 0.2:
            data[name].flat[rng.integers(x.size)] = rng.choice([np.inf, -np.inf])
    return data
