"""The GPUs that a process can be shown."""
import dataclasses


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
    def capability(self):
        return divmod(self.sm, 10)


KIB, MIB = 1 << 10, 1 << 20
DEVICES = {
    "h200": Device("NVIDIA H200", 90, 132, 143771 * MIB, 227 * KIB, 2048, 60 * MIB, 1980, 3201, 6144),
    "b200": Device("NVIDIA B200", 100, 148, 180_000_000_000, 227 * KIB, 2048, 126 * MIB, 1965, 3996, 8192),
    "rtx": Device("NVIDIA RTX PRO 6000 Blackwell", 120, 188, 96_000_000_000, 99 * KIB, 1536, 128 * MIB, 2430, 14001, 512),
}
