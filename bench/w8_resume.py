"""W8: how long a state takes, how large it is, and how soon the batch after it comes."""

from bench.figure import Contender, Figure, at_most

SIZES = {"10^6": 10**6, "10^8": 10**8, "10^9": 10**9}


def resume(name, make, needs="", **options):
    module = "grain_loader" if needs == "grain" else "infeed_resume"
    return Contender(name, f"{module}:{make}", options, needs)


def figures(scale):
    yield Figure("W8 state_dict() of random access", "us", (
        resume("infeed", "state_microseconds", form="random access"),), (at_most(20),), less=True)
    yield Figure("W8 state_dict() of a stream", "us", (
        resume("infeed", "state_microseconds", form="stream"),), (at_most(20),), less=True)
    yield Figure("W8 state as JSON, at most, of 10^9 elements", "bytes", (
        resume("infeed", "state_bytes", form="random access"),
        resume("infeed, one after the other", "state_bytes", form="stream")), (at_most(1024),), less=True, rounds=1, warm=False)
    for name, n in SIZES.items():
        yield Figure(f"W8 next batch, {name} shuffled elements", "ms", (
            resume("infeed", "restored", n=n), resume("fresh start", "started", n=n),
            resume("grain", "restored", "grain", n=n)),
            (at_most(20, "fresh start", "difference"),), less=True)
    yield Figure("W8 next batch, shuffled records at 90 % of 10 GB", "ms", (
        resume("infeed", "restored_records"), resume("fresh start", "started_records")),
        (at_most(300, "fresh start", "difference"),), less=True)
