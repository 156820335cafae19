"""What an iterator did, to print and to look at."""


class Stats:
    """What an iterator did. Made by `Iterator.stats`; printed, it is a table.

    stages: for each operation, the source first, a dict with `text`, `elements`,
    `bytes` (without text), `seconds` (in it, without the stages below it), `waited`
    (seconds in the stages below it) and `queue` (pieces of elements that it has made
    ahead or is making). waiting, ahead: how many groups of elements are ready, and may
    be at most. consumer_wait: seconds that the loop waited for elements, or called
    functions for them. lost, places: what errors="skip" and ignore_errors left out, how
    much and the first places. notices: what went wrong and stopped nobody, such as a
    snapshot for which there is no room. bottleneck: the text of the stage that took the
    most time, where the loop waited at all.
    """

    def __init__(self, counted, waited, delivered):
        self.stages, self.waiting, self.ahead = counted["stages"], counted["waiting"], counted["ahead"]
        self.lost, self.places, self.notices = counted["lost"], counted["places"], counted["notices"]
        self.consumer_wait, self.delivered = waited, delivered

    @property
    def bottleneck(self):
        slowest = max(self.stages, key=lambda s: s["seconds"], default=None)
        return slowest["text"] if slowest and self.consumer_wait > 0 else None

    def __repr__(self):
        lines = [f"{'elements':>12} {'MB':>10} {'seconds':>9} {'waited':>9} {'queue':>6}  stage"]
        lines += [f"{s['elements']:>12} {s['bytes'] / 1e6:>10.1f} {s['seconds']:>9.3f} {s['waited']:>9.3f} {s['queue']:>6}  {s['text']}"
                  for s in self.stages]
        lines.append(f"{self.delivered} delivered, {self.waiting} of {self.ahead} groups ready, the loop waited {self.consumer_wait:.3f} s, "
                     f"{self.lost} left out")
        lines += self.notices
        if self.bottleneck:
            lines.append(f"bottleneck: {self.bottleneck}")
        return "\n".join(lines)
