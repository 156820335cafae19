"""Trains with a plain loop that drives CheckpointInputPipelineHook as a MonitoredSession would.

    python examples/monitored_loop.py MODEL_DIR [STEPS]

Run it again with the same directory: it goes on with the element after the last
checkpoint. The "model" is a sum, kept in a file of its own beside the checkpoints.
"""

import json
import sys
import types
from pathlib import Path

import infeed


class Session:
    """What hooks see of a training: its global step."""

    def __init__(self, step):
        self.global_step = step


def monitored(hooks, session, step):
    """Calls hooks in the order of a MonitoredSession; step(session) raises StopIteration at the end of training."""
    context = types.SimpleNamespace(session=session)
    for hook in hooks:
        hook.begin()
    for hook in hooks:
        hook.after_create_session(session, None)
    while True:
        for hook in hooks:
            hook.before_run(context)
        try:
            results = step(session)
        except StopIteration:
            break
        for hook in hooks:
            hook.after_run(context, types.SimpleNamespace(results=results))
    for hook in hooks:
        hook.end(session)


class Model:
    """A hook as the one that saves a model: it writes the sum and the global step at the same steps."""

    def __init__(self, path, every):
        self.path, self.every, self.total, self.step = path, every, 0, 0
        if path.exists():
            saved = json.loads(path.read_text())
            self.total, self.step = saved["total"], saved["step"]

    def begin(self):
        pass

    def after_create_session(self, session, coord):
        session.global_step = self.step

    def before_run(self, context):
        pass

    def after_run(self, context, values):
        if context.session.global_step % self.every == 0:
            self.save(context.session)

    def end(self, session):
        self.save(session)

    def save(self, session):
        self.path.write_text(json.dumps({"total": self.total, "step": session.global_step}))


def train(model_dir, steps, config):
    model_dir.mkdir(parents=True, exist_ok=True)
    iterator = iter(infeed.Dataset.range(1000).shuffle(1000, seed=1).batch(10))
    infeed.make_saveable_from_iterator(iterator)
    estimator = types.SimpleNamespace(model_dir=model_dir, config=config)
    model = Model(model_dir / "model.json", every=5)
    until = model.step + steps

    def step(session):
        if session.global_step == until:
            raise StopIteration
        batch = next(iterator)
        model.total += int(batch.sum())
        session.global_step += 1
        return batch

    session = Session(0)
    monitored([model, infeed.CheckpointInputPipelineHook(estimator)], session, step)
    return session.global_step, model.total


def evaluate(model_dir):
    """Hooks of training are not given to evaluation: it sees all of its data each time."""
    total = json.loads((model_dir / "model.json").read_text())["total"]
    return total, sum(int(x) for x in infeed.Dataset.range(1000))


def main():
    if len(sys.argv) < 2:
        sys.exit("usage: python examples/monitored_loop.py MODEL_DIR [STEPS]")
    model_dir, steps = Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 40
    config = types.SimpleNamespace(save_checkpoints_secs=None, save_checkpoints_steps=5)
    step, total = train(model_dir, steps, config)
    print(f"step {step}: the sum of what was trained on is {total}")
    print(f"evaluation: {evaluate(model_dir)}")


if __name__ == "__main__":
    main()
