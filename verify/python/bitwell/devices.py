"""The GPUs that a process can be shown."""
import dataclasses
import json

from . import _native


@dataclasses.dataclass(frozen=True)
class Device:
    name: str
    sm: int
    processors: int
    memory: int  # bytes
    shared: int  # of one CTA, bytes
    threads: int  # of one multiprocessor
    l2: int  # bytes
    clock: int  # MHz
    memory_clock: int
    bus: int  # bits

    @property
    def shared_of_processor(self):  # the system keeps 1024 bytes of each CTA's
        return self.shared + 1024

    @property
    def capability(self):
        return divmod(self.sm, 10)


DEVICES = {name: Device(**json.loads(_native.device(sm))) for name, sm in (("h200", 90), ("b200", 100), ("rtx", 120))}
