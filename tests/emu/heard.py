"""What was announced on a device, with what its cores remember: `macaw.debugger.causes.record`, bare."""

from __future__ import annotations

from functools import partial


class Heard:
    """Numbers announcements; writes by number: core, address, bytes."""

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
        """The number of the last write of a byte before that of an announcement."""
        for number in sorted((n for n in self.writes if n < before), reverse=True):
            _, begin, size = self.writes[number]
            if begin <= address < begin + size:
                return number
        return None
