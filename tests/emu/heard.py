"""Records the announcements of a device, as `macaw.debugger.causes.record` does, for tests of
origins.
"""

from __future__ import annotations

from functools import partial


class Heard:
    """Numbers the announcements; keeps core, address and size of each write by number."""

    def __init__(self, device):
        self.device, self.count, self.writes = device, 0, {}
        for core in device.order:
            core.remember(lambda: self.count).on_move = partial(self.told, core.name)
        device.listen(self)

    def __call__(self, event):
        event.core.origins.observe(event.kind, event.time, dict(event.values))
        if event.kind == "write":
            self.told(event.core.name, "write", 0, event.values["address"], event.values["size"])
        else:
            self.count += 1

    def told(self, core, kind, time, address, size):
        self.writes[self.count] = core, address, size
        self.count += 1

    def last_write(self, address, before):
        """The number of the last write to a byte before an announcement, or None."""
        for number in sorted((n for n in self.writes if n < before), reverse=True):
            _, begin, size = self.writes[number]
            if begin <= address < begin + size:
                return number
        return None
