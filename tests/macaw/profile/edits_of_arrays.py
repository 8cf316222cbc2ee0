"""Edits of sample programs, each of which follows the advice of a finding about the array."""

from __future__ import annotations

from tests.macaw.profile.edits import Edit

_GROUPS = 5  # groups of four images; each group has two packets
_PES = 16  # of a cluster


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
        "pe[0]",
        "imbalance",
        "good.s:33",
        "the neurons are ordered by the number of their weights",
        (),
        ordered="w.npy",
    ),
)
