"""SPDL's pipeline: threads, and a child process with its shared-memory arena."""

from contextlib import contextmanager

from spdl.pipeline import PipelineBuilder, SharedMemorySegmentPool, run_pipeline_in_subprocess

from bench import batches


class Get:
    def __init__(self, source):
        self.source = source

    def __call__(self, index):
        return self.source[index]


def _builder(source):
    stages = PipelineBuilder().add_source(range(len(source)))
    return stages.pipe(Get(source), concurrency=2, output_order="input").add_sink(4)


@contextmanager
def threads(n, **options):
    """Batches a second with two threads."""
    source = batches.Plain(n, **options)

    def run():
        pipeline = _builder(source).build(num_threads=2, use_thread_output_queue=True)
        with pipeline.auto_stop():
            return batches.rate(pipeline.get_iterator(timeout=30), n)

    yield run


@contextmanager
def arena(n, **options):
    """Batches a second of two threads in a child process, handed over in shared memory."""
    source = batches.Plain(n, **options)
    nbytes = source[0][0].nbytes + (1 << 16)

    def run():
        pool = SharedMemorySegmentPool(segment_size=nbytes, count=8)
        return batches.rate(run_pipeline_in_subprocess(_builder(source).get_config(), num_threads=2, arena=pool), n)

    yield run
