"""Random programs of nnp: chains that keep the rules, and tensors for the entries that they read.

Vectors and tiles share a few entries of Dram, which programs read and write as vectors or as tiles.
Chains write to one memory several times and overwrite entries. Some loads are never used, also at
the end.
"""

import numpy as np

from macaw.isa.codec import Decoded, decode, describe, encode
from macaw.isa.config import Configuration, load
from macaw.isa.nnp import CORE, HOST_TYPES, RESET, SCALARS, WINDOW
from macaw.isa.nnp_chains import ChainError, complete, follow, settings
from macaw.isa.nnp_elements import MX_ELEMENTS
from macaw.isa.nnp_entries import Volume, check, flow
from macaw.isa.nnp_layouts import BY_NAME

ROWS = {row.mnemonic: row for row in CORE.instructions}
VECTORS = ("InitialVrf", "MulVrf", "AddSubVrf0", "AddSubVrf1")
NET_OUT = BY_NAME["NetOutQ"].code
DRAM = 96  # native vectors
ENTRIES = 12  # of each register file and of Dram, so that programs meet what they wrote
TILES = 8  # of MatrixRf, likewise


_CODES = {scalar.name: scalar.code for scalar in SCALARS}


def one(mnemonic, **values):
    word = encode(ROWS[mnemonic], values)
    found = decode(CORE, word)
    assert isinstance(found, Decoded)
    return found


class Writer:
    """Writes a program for the device `config`."""

    def __init__(self, rng, config):
        self.rng, self.config = rng, config
        self.lines, self.scalars = [], dict(RESET)
        self.tiles = 0
        self.stores = rng.random() < 0.2  # matrices leave
        self.pops = 0  # native vectors
        self.pushes = []  # of each chain: rows, native vectors of one

    def pick(self, *choices):
        return choices[self.rng.integers(len(choices))]

    def upto(self, most, least=0):
        return int(self.rng.integers(least, most + 1))

    def set(self, **values):
        for name, value in values.items():
            if self.scalars[name] != value:
                self.lines.append(f"        s_wr {name}, {value}")
                self.scalars.update(settings(one("s_wr", reg=_CODES[name], value=value)))

    def chain(self, rows):
        """Append a chain; return False if it breaks a rule."""
        try:
            follow(rows)
            complete(rows)
            check(rows, self.scalars, self.config)
        except ChainError:
            return False
        self.lines += [f"        {describe(row)}" for row in rows]
        times = sum(row.values.get("mem") == NET_OUT for row in rows) * self.scalars["iterations"]
        if times:
            self.pushes.append((times, flow(rows, self.scalars)[-1]))
        return True

    def addressed(self, mnemonic, memory=None, **more):
        """An instruction or its _inc form, at a random address."""
        values = {"a": self.upto(ENTRIES - 1)} if memory != "NetInQ" and memory != "NetOutQ" else {}
        values.setdefault("a", 0)
        if memory is not None:
            values["mem"] = BY_NAME[memory].code
        if memory not in ("NetInQ", "NetOutQ") and self.rng.random() < 0.4:
            return one(f"{mnemonic}_inc", **values, inc=self.upto(2), **more)
        return one(mnemonic, **values, **more)

    def matrix(self, source, target="MatrixRf"):
        """Append a chain that moves tiles from one memory to another."""
        rows, cols = self.upto(2, 1), self.upto(3, 1)
        self.set(rows=rows, cols=cols, iterations=self.pick(1, 1, 1, 2))
        places = {
            "NetInQ": 0,
            "Dram": self.upto(max(1, ENTRIES // self.config["nnp.native"])),
            "MatrixRf": self.upto(min(self.tiles, TILES)),
        }
        read = one("m_rd", mem=BY_NAME[source].code, a=places[source])
        write = one("m_wr", mem=BY_NAME[target].code, a=places[target])
        assert self.chain([read, write])
        if source == "NetInQ":
            self.pops += self.scalars["iterations"] * rows * cols * self.config["nnp.native"]
        if target == "MatrixRf":
            self.tiles = max(self.tiles, places[target] + rows * cols)

    def load(self):
        """Append a load of entries that most programs never use."""
        source = self.pick("Dram", "Dram", "Dram", "NetInQ")
        self.set(**{**RESET, "cols": self.upto(2, 1)})
        read = one("v_rd", mem=BY_NAME[source].code, a=0 if source == "NetInQ" else self.upto(40))
        write = self.addressed("v_wr", self.pick("MulVrf", "AddSubVrf0", "AddSubVrf1"))
        assert self.chain([read, write])
        self.pops += self.scalars["cols"] if source == "NetInQ" else 0

    def step(self):
        """Append the next chain of a program; return whether it kept the rules."""
        kind = self.rng.random()
        if kind < 0.12:
            self.matrix(self.pick("Dram", "Dram", "NetInQ"))
        elif kind < 0.18:
            self.load()
        elif kind < 0.24:
            return self.tile()
        elif kind < 0.3 and self.stores:
            self.matrix("MatrixRf", "Dram")
        else:
            return self.vector()
        return True

    def tile(self):
        """Write vectors to Dram, which form rows of tiles there; load these tiles into MatrixRf."""
        native = self.config["nnp.native"]
        first, memory = self.upto(ENTRIES // native), self.pick("MulVrf", "AddSubVrf0")
        dram = BY_NAME["Dram"].code
        self.set(**{**RESET, "iterations": self.upto(native, 1)})
        read = one("v_rd_inc", mem=BY_NAME[memory].code, a=self.upto(4), inc=self.upto(2))
        write = one("v_wr_inc", mem=dram, a=first * native + self.upto(native - 1), inc=1)
        if not self.chain([read, write]):
            return False
        self.set(**{**RESET, "cols": self.upto(2, 1)})
        place = self.upto(min(self.tiles, TILES))
        read, write = (
            one("m_rd", mem=dram, a=first),
            one("m_wr", mem=BY_NAME["MatrixRf"].code, a=place),
        )
        assert self.chain([read, write])
        self.tiles = max(self.tiles, place + self.scalars["cols"])
        return True

    def targets(self):
        """The writes at the end of a chain, some of them to the same memory."""
        places = self.rng.permutation([*VECTORS, "NetOutQ", "NetOutQ", "Dram", "Dram"])
        found = [self.addressed("v_wr", str(place)) for place in places[: self.upto(2, 1)]]
        if self.rng.random() < 0.25:
            place = self.pick(*VECTORS, "Dram")
            for _ in range(2):
                found.append(
                    one("v_wr_inc", mem=BY_NAME[place].code, a=self.upto(3), inc=self.upto(2))
                )
        return found

    def vector(self):
        """Append a random chain of vectors; return whether it kept the rules."""
        source = self.pick("NetInQ", "NetOutQ", "Dram", *VECTORS, *VECTORS)
        if source == "NetOutQ":
            source = "InitialVrf"
        windows = {}
        if self.rng.random() < 0.25 and source != "NetInQ":
            windows = {
                "width": self.upto(4, 2), "height": self.upto(3, 1), "kernel": self.upto(2, 1),
                "stride": self.upto(2, 1), "pad": self.upto(1), "depth": self.upto(2, 1),
                "dilation": self.pick(1, 1, 2),
            }  # fmt: skip
            for name in ("kernel", "stride", "dilation", "pad"):
                least = 0 if name == "pad" else 1
                windows[f"{name}_y"] = self.pick(windows[name], self.upto(2, least))
        sizes = {name: RESET[name] for name in WINDOW} | windows
        product = self.rng.random() < 0.5
        cols = self.upto(3, 1)
        read = self.addressed("v_rd", source)
        iterations = self.pick(1, 1, 2, 3)
        if windows:
            image = Volume(**sizes)
            iterations = max(image.across, 0) * max(image.down, 0)
            if iterations < 1:
                return False
            if "inc" not in read.values:
                cols = image.vectors
        rows = self.upto(2, 1)
        if product and rows * cols > self.tiles:
            return False
        before = dict(self.scalars), list(self.lines)
        self.set(rows=rows, cols=cols, iterations=iterations, valid=self.upto(cols * 2, 1), **sizes)
        found = [read]
        if product:
            found.append(one("mv_mul", m=self.upto(self.tiles - rows * cols)))
        for unit in (0, 1):
            does = [
                self.pick("vv_add", "vv_a_sub_b", "vv_b_sub_a", "vv_max"),
                "activate",
                "v_quantise",
            ]
            does += ["vv_mul"] if unit == 0 else []
            self.rng.shuffle(does)
            for item in does[: self.upto(len(does))]:
                if item == "activate":
                    found.append(one(self.pick("v_sigm", "v_tanh", "v_relu", "v_softmax")))
                elif item == "v_quantise":
                    found.append(one(item))
                elif item == "vv_mul":
                    found.append(self.addressed(item))
                else:
                    found.append(self.addressed(item, f"AddSubVrf{unit}"))
        found += self.targets()
        if self.chain(found):
            self.pops += iterations * cols if source == "NetInQ" else 0
            return True
        self.scalars, self.lines = before
        return False


def program(rng, config, chains=8, repeats=1):
    """A program's source: inputs of matrices and vectors, chains `repeats` times, outputs."""
    writer = Writer(rng, config)
    for _ in range(writer.upto(3, 1)):
        writer.matrix(writer.pick("NetInQ", "Dram"))
    writer.set(rows=1, cols=ENTRIES, iterations=1)
    for name in VECTORS:  # so that chains have something to work with
        write = one("v_wr", mem=BY_NAME[name].code, a=0)
        assert writer.chain([one("v_rd", mem=BY_NAME["NetInQ"].code, a=0), write])
        writer.pops += ENTRIES
    begin = [f"        s_wr {name}, {value}" for name, value in writer.scalars.items()]
    start, before, first = len(writer.lines), writer.pops, list(writer.lines)
    done = 0
    while done < chains:
        done += writer.step()
    body = [f"        .rept {repeats}", *begin, *writer.lines[start:], "        .endr"]
    pops = before + repeats * (writer.pops - before)
    pushes = repeats * writer.pushes
    one_output = repeats > 1 or writer.rng.random() < 0.3
    del writer.lines[start:]
    writer.set(**{**RESET, "cols": ENTRIES})
    reset = [f"        s_wr {name}, {value}" for name, value in writer.scalars.items()]
    least = int(not pushes)
    shown = ["InitialVrf", "AddSubVrf0"][: writer.upto(2 if chains > 2 else least, least)]
    pushes += [(1, ENTRIES)] * len(shown)
    for name in shown:
        reset += [f"        v_rd {name}, 0", "        v_wr NetOutQ"]
    before = writer.pops
    for _ in range(writer.pick(0, 1, 2)):
        writer.load()
    pops += writer.pops - before
    reset += writer.lines[start:]
    outputs = [(sum(rows * width for rows, width in pushes), 1)] if one_output else pushes
    dtype, native = HOST_TYPES[config["nnp.host_format"]], config["nnp.native"]
    head = [
        "        .data",
        f"dram:   .array  {dtype}, {DRAM}, {native}  # external memory begins here, and so does Dram",
        f"        .input  taken, {dtype}, {pops}, {native}, at=netin",
        *(
            f"        .output given{number}, {dtype}, {rows}, {width * native}, at=netout"
            for number, (rows, width) in enumerate(outputs)
        ),
        "        .core   nnp",
    ]
    lines = [*head, "_start:", *first, *body, *reset, "        end_chain"]
    return "\n".join(lines) + "\n"


def lengths(rng):
    """The number of chains of a program, and of their repetitions; many programs are short."""
    return int(rng.choice([1, 1, 2, *range(3, 10)])), int(rng.choice([1, 1, 2, 3]))


def device(rng):
    """Return a small device with a random quantiser, random sizes and random settings."""
    small: dict[str, int | str] = {
        "nnp.native": int(rng.choice([1, 2, 4])),  # a multiple of a smaller nnp.mx_block
        "nnp.host_format": str(rng.choice(["fp16", "fp32"])),
        "nnp.quantise": str(rng.choice(["bfp", "bfp", "int", "log", "float", "mx", "mx"])),
        "nnp.vector_bits": int(rng.integers(3, 17)),
        "nnp.matrix_bits": int(rng.integers(3, 17)),
        "nnp.float_exponent_bits": int(rng.integers(2, 6)),
        "nnp.float_mantissa_bits": int(rng.integers(1, 11)),
        "nnp.vector_element": str(rng.choice([*MX_ELEMENTS])),
        "nnp.matrix_element": str(rng.choice([*MX_ELEMENTS])),
        "nnp.mx_block": int(rng.choice([1, 2, 32])),
        "nnp.quantise_mvm_out": bool(rng.random() < 0.3),
        "nnp.quantise_mfu_in": bool(rng.random() < 0.3),
    }
    return Configuration("random", {**load("tiny"), **small})


def tensors(rng, found):
    """Numbers of mixed sizes for the inputs of a layer, with zeros, large and infinite ones.

    Tensors that lie at the same address of Dram get the same numbers.
    """
    data, most = {}, int(rng.choice([3, 3, 14]))

    def numbers(shape):
        x = rng.normal(size=shape) * 2.0 ** rng.integers(-6, most, shape)
        x = np.where(rng.random(shape) < 0.2, 0, x).astype(found.dtype)
        if most > 3 and rng.random() < 0.2:
            x.flat[rng.integers(x.size)] = rng.choice([np.inf, -np.inf])
        return x

    dram = numbers((4 * DRAM, found.tensors.native))
    for name, tensor in found.inputs.items():
        if tensor.memory == "Dram":
            data[name] = placed(tensor, dram)
        else:
            data[name] = numbers(tensor.shape)
    return data


def placed(tensor, dram):
    """Return a tensor of Dram in its shape; `dram` has the vectors of Dram as rows."""
    native = dram.shape[1]
    across = -(-tensor.columns // native)
    if tensor.kind == "matrix":
        tiles = dram.reshape(-1, native, native)[tensor.address :]
        down = -(-tensor.rows // native)
        rows = tiles[: down * across].reshape(down, across, native, native)
        rows = rows.transpose(0, 2, 1, 3).reshape(down * native, -1)
    else:
        rows = dram[tensor.address :][: tensor.rows * across].reshape(tensor.rows, -1)
    return rows[: tensor.rows, : tensor.columns].reshape(tensor.shape)
