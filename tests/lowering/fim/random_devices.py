"""Devices with random timings and geometry of islands, dma and memories."""

from __future__ import annotations

from macaw.isa.config import ConfigError
from tests.lowering.fim.running import BASE, TINY

SETTINGS = {
    "fim.t_rrds": (1, 5, 9), "fim.t_rrdl": (2, 7, 13), "fim.t_faw": (20, 40, 100),
    "fim.t_wtrs": (3, 9), "fim.t_wtrl": (4, 11, 70), "fim.t_rtp": (5, 60), "fim.t_rtw": (6, 30),
    "fim.t_ccdl": (1, 2, 7), "fim.t_ccds": (1, 5), "fim.burst": (1, 5), "fim.t_rtrs": (0, 6),
    "fim.t_rp": (1, 40), "fim.t_rc": (20, 130), "fim.t_ras": (10, 90), "fim.t_wr": (3, 50),
    "fim.rl": (3, 70), "fim.wl": (2, 30), "fim.rows": (2, 4, 16, 64), "dma.divider": (2, 3, 5),
    "dma.setup": (1, 9), "dma.buffer": (1, 2, 32, 128), "dma.width": (4, 8, 16, 64),
    "mem.onchip_latency": (1, 9), "mem.external_latency": (1, 90),
    "mem.external_width": (4, 16, 64, 36), "fim.organisation": ("dimm",), "fim.act_banks": (1, 2),
}  # fmt: skip
BANKS = (1, 4, 4), (2, 2, 2), (2, 4, 2), (4, 2, 2), (1, 1, 1), (1, 2, 8), (4, 1, 3)


def some_device(random):
    """A device with some settings changed, often one that limits the commands of the banks."""
    while True:
        share = random.choice([0, 0.1, 0.5])
        changes = {
            name: random.choice(values)
            for name, values in SETTINGS.items()
            if random.random() < share
        }
        names = "fim.ranks", "fim.bank_groups", "fim.group_banks"
        changes |= zip(names, random.choice(BANKS), strict=True)
        try:
            return random.choice([BASE, TINY]).changed(changes)
        except ConfigError:
            continue
