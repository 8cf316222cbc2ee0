"""Edits of sample programs, each of which follows the advice of a finding about the array."""

from __future__ import annotations

from tests.macaw.profile.edits import Edit

_GROUPS = 5  # groups of four images; each group has two packets
_PES = 16  # of a cluster
_UNIT = "1 << 20"  # bytes from an on-chip unit to the next one
_BOTH = "(1 << 24)"  # added to an address in unit 0: the same bytes for unit 1, too


def _outputs(group: int) -> tuple[tuple[str, str], ...]:
    """Let another cluster than 0 compute a group of images in the last layer of digits_mlp.

    A cluster stores its results after the places of the clusters with lower numbers. So the address
    must be lower by the size of these places, and `pes` must count their PEs, too.
    """
    cluster = group % 4
    first, images = 4 * group, ", ".join(f"hidden2[{4 * group + n}]" for n in range(4))
    data = f"data=({images}, w3[0], psums b3 sliced), to="
    out = (
        f"        exe     ib=2, last, out=(logits[{first}:{first + 4}], stride=4, step=40, pes=10)"
    )
    moved = (
        f"        exe     ib=2, last, out=(logits{cluster}[{first}:], stride=4, step=40,"
        f" pes={_PES * cluster + 10})"
    )
    return (f"{data}0", f"{data}{cluster}"), (f"{out}, to=0", f"{moved}, to={cluster}")


_LOGITS = "logits:  .array  int32, 20, 10\n"
ARRAY_EDITS = (
    Edit(
        "six_cores",
        "pe",
        "imbalance",
        "six_cores.s:47",
        "each of the two rows computes eight of the sixteen neurons",
        (
            (".equ    ROW0, 1\n", f".equ    ROW0, 3\n        .equ    UNIT, {_UNIT}\n"),
            (" | 1 << 16\n", " | 3 << 16\n"),
            (
                "        exe     ib=1, last, out=(h, stride=4, step=64, pes=8)\n"
                "        exe     ib=2, last, data=(w1[1])\n"
                "        exe     ib=1, last, out=(h[0, 8], stride=4, step=64, pes=8)\n",
                "        exe     ib=1, last, out=(h, stride=4, step=64, pes=8)\n"
                "        .endlist\n"
                "        .list   other\n"
                "        config  ib=0, first\n"
                "        config  ib=1, finish\n"
                "        exe     ib=0, last, data=(items[0], items[1], items[2], items[3], w1[1])\n"
                "        exe     ib=1, last, out=(h[0, 8], stride=4, step=64, pes=8)\n",
            ),
            ("        config  ib=2, second\n", ""),
            (
                "        vld     vr2, 32(a0)\n",
                "        li      a2, UNIT\n        add     a2, a2, a0\n        vld     vr2, 32(a2)\n",
            ),
            ("        vld     vr3, 48(a0)\n", "        vld     vr3, 48(a2)\n"),
            (
                "        li      t0, ROW0\n        la      t1, layer\n        dispatch t0, t1\n",
                "        li      t0, 1\n        la      t1, layer\n        dispatch t0, t1\n"
                "        li      t0, 2\n        la      t1, other\n        dispatch t0, t1\n",
            ),
            ("        li      t0, items\n", f"        li      t0, items + {_BOTH}\n"),
            ("ping:   .word   layer,", f"ping:   .word   layer + {_BOTH},"),
            ("pong:   .word   layer + PONG,", f"pong:   .word   layer + {_BOTH} + PONG,"),
        ),
    ),
    Edit(
        "digits_mlp",
        "pe",
        "packets",
        "digits_mlp.s:49",
        "in the last layer, each cluster has other images",
        (
            (
                _LOGITS,
                _LOGITS
                + "".join(
                    f"        .view   logits{n}, int32, 40, 10, at=logits - {4 * _PES * n}\n"
                    for n in (1, 2, 3)
                ),
            ),
            *(change for group in range(_GROUPS) if group % 4 for change in _outputs(group)),
        ),
    ),
    Edit(
        "network",
        "pe",
        "packets",
        "shape_1.inc:12",
        "in the first layer, two clusters compute every other column each",
        (
            (
                "        product_1 inner=8, inner2=1, outer=2\n",
                "        .seq    product0, state=rq, pipeline=4\n"
                "        .loop   inner=4, outer=2\n"
                "        .step   mac.base, inner=2, outer=2\n"
                "        .step   spu.dst, inner=1\n"
                "        .stride mac.base, cluster=1\n"
                "        .then   ib=3\n"
                "          ld    weights\n"
                "          ld    psums, base=15\n"
                "          mac   base=0, acc=0\n"
                "          spu   nonsf, src=0, dst=0\n"
                "        .endseq\n",
            ),
            (
                "        last_1  count=16\n",
                "        .list   last\n"
                "        exe     ib=0, data=(x_tile), to=(0, 1)\n"
                "last_again:\n"
                "last_product0:\n"
                "        exe     ib=4, data=(weights w_tile by_pe, psums start[0] by_pe), last,"
                " out=(result[0], stride=1, step=32, count=8), to=(0, 1)\n"
                "        .endlist\n",
            ),
        ),
        "net/shape_1.inc",
    ),
    Edit(
        "profiled",
        "pe",
        "imbalance",
        "good.s:33",
        "each of the two rows computes every other tile",
        (
            (".equ    ROW0, 1\n", f".equ    ROW0, 3\n        .equ    UNIT, {_UNIT}\n"),
            ("ping:   .word   setup,", f"ping:   .word   setup + {_BOTH},"),
            ("pong:   .word   setup + PONG,", f"pong:   .word   setup + {_BOTH} + PONG,"),
            ("li      s2, TILES\n", "li      s2, TILES / 2\n"),
            ("li      t0, TILES - 1\n", "li      t0, TILES / 2 - 1\n"),
            ("addi    s3, s3, 4 * 128", "addi    s3, s3, 2 * 4 * 128"),
            ("addi    s4, s4, 4 * 32", "addi    s4, s4, 2 * 4 * 32"),
            (
                "take:   .word   0, 0, 4 * 128, 1, 0, 0",
                "take:   .word   0, 0, 4 * 128, 2, UNIT, 4 * 128",
            ),
            (
                "give:   .word   0, 0, 4 * 32, 1, 0, 0",
                "give:   .word   0, 0, 4 * 32, 2, 4 * 32, UNIT",
            ),
        ),
    ),
    Edit(
        "profiled",
        "pe[0]",
        "imbalance",
        "good.s:33",
        "the neurons are ordered by the number of their weights",
        (),
        ordered="w.npy",
    ),
)
