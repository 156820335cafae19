"""Dataset.with_options and options."""

from cases import case


def options(lib, **values):
    made = lib.Options()
    for name, value in values.items():
        group, _, field = name.rpartition("__")
        setattr(getattr(made, group) if group else made, field, value)
    return made


@case([0, 1, 2], cardinality=3)
def test_none_set(lib):
    return lib.Dataset.range(3).with_options(lib.Options())


@case([0, 1, 2])
def test_deterministic(lib):
    return lib.Dataset.range(3).with_options(options(lib, deterministic=True), name="fixed")


@case([0, 2, 4])
def test_threading(lib):
    chosen = options(lib, threading__private_threadpool_size=2, threading__max_intra_op_parallelism=1)
    return lib.Dataset.range(3).map(lambda x: x * 2).with_options(chosen)


@case([0, 2, 4])
def test_autotune(lib):
    chosen = options(lib, autotune__enabled=False)
    return lib.Dataset.range(3).with_options(chosen).map(lambda x: x * 2)


@case([0, 2])
def test_optimization(lib):
    chosen = options(lib, experimental_optimization__map_fusion=True, experimental_optimization__noop_elimination=True)
    return lib.Dataset.range(2).map(lambda x: x + x).with_options(chosen)


@case([0, 1])
def test_distribute(lib):
    chosen = options(lib, experimental_distribute__num_devices=1)
    return lib.Dataset.range(2).with_options(chosen)


@case([0, 1])
def test_slack_and_warm_start(lib):
    return lib.Dataset.range(2).with_options(options(lib, experimental_slack=False, experimental_warm_start=False))


@case([(True, 3)])
def test_options_are_told(lib):
    ds = lib.Dataset.range(2).with_options(options(lib, deterministic=True))
    told = ds.with_options(options(lib, threading__private_threadpool_size=3)).batch(2).options()
    return told.deterministic, told.threading.private_threadpool_size


@case([False])
def test_the_last_ones_hold(lib):
    ds = lib.Dataset.range(2).with_options(options(lib, deterministic=True))
    return ds.with_options(options(lib, deterministic=False)).options().deterministic


@case([], raises="Attribute")
def test_no_such_option(lib):
    return lib.Dataset.range(2).with_options(options(lib, speed=3))


@case([], raises="Attribute")
def test_not_options(lib):
    return lib.Dataset.range(2).with_options({"deterministic": True})
