"""What /proc says about trees of processes: members, CPU time, memory."""

import os

TICKS = os.sysconf("SC_CLK_TCK")


def _stat(pid):
    """The fields of /proc/PID/stat from the state on; None if it ended."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()
    except OSError:
        return None


def tree(root):
    """root and its descendants."""
    parents = {}
    for name in os.listdir("/proc"):
        stat = _stat(name) if name.isdigit() else None
        if stat:
            parents[int(name)] = int(stat[1])
    members = {root}
    while True:
        more = {p for p, parent in parents.items() if parent in members} - members
        if not more:
            return members
        members |= more


def cpu_seconds(pids):
    """CPU time of processes and of those of their children that ended."""
    stats = (_stat(pid) for pid in pids)
    return sum(sum(int(v) for v in s[11:15]) for s in stats if s) / TICKS


def machine_busy_seconds():
    """CPU time of everything on this machine since it started."""
    with open("/proc/stat") as f:
        user, nice, system, idle, iowait, irq, softirq, steal = (int(v) for v in f.readline().split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def proportional_bytes(pids):
    """Memory of processes together, pages that several share counted once."""
    total = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as f:
                total += sum(int(line.split()[1]) for line in f if line.startswith("Pss:")) << 10
        except OSError:
            pass  # ended meanwhile
    return total


class Load:
    """Cores that processes other than `root`'s tree kept busy since this was made."""

    def __init__(self, root, clock):
        self.root, self.clock = root, clock
        self.start = self._now()

    def _now(self):
        return self.clock(), machine_busy_seconds(), cpu_seconds(tree(self.root))

    def others(self):
        seconds, machine, own = (b - a for a, b in zip(self.start, self._now()))
        return max(0.0, (machine - own) / max(seconds, 1e-9))
