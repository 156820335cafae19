"""Arrays in memory: whole-dataset shuffle, augmentation that only the seed decides, and going on where a run stood.

    python examples/arrays.py
"""

import json

import numpy as np

import infeed


def augment(image, label):
    shift = infeed.random.uniform((), -0.1, 0.1, seed=5)  # of this element in this pass, whoever makes it
    return (image.astype("float32") / np.float32(255) + shift).clip(0, 1), label


def main():
    images = np.random.default_rng(0).integers(0, 256, (2000, 28, 28), dtype=np.uint8)
    labels = np.arange(2000) % 10
    dataset = infeed.Dataset.from_tensor_slices((images, labels)).shuffle(seed=7).map(augment).batch(64, drop_remainder=True)
    print(dataset.element_spec)

    walk = iter(dataset)
    for _ in range(10):
        next(walk)
    place = json.dumps(walk.state_dict())
    expected = [labels.tolist() for _, labels in walk]

    again = iter(dataset)  # in the same process or in another one
    again.load_state_dict(json.loads(place))
    assert [labels.tolist() for _, labels in again] == expected
    print(f"{len(expected)} batches follow the saved place of {len(place)} bytes, the same ones again")


if __name__ == "__main__":
    main()
