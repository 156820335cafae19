"""Transformations of several datasets, and those that draw, as methods of Dataset."""

import numpy as np

from infeed import _arguments, _nodes, _sources
from infeed._errors import InvalidArgumentError
from infeed._spec import Structure


class Mixing:
    """Zips, chains and mixtures."""

    @classmethod
    def zip(cls, *args, datasets=None, name=None):
        """Elements of several datasets side by side, nested as the datasets are; it ends with the shortest.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.zip(infeed.Dataset.range(2), infeed.Dataset.range(5, 9))
            >>> [(int(a), int(b)) for a, b in ds]
            [(0, 5), (1, 6)]
        """
        if (datasets is None) == (not args):
            raise InvalidArgumentError("zip: give datasets, once")
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        structure, leaves = Structure.of(given)
        found = [v for _, v in leaves]
        for (path, v) in leaves:
            _arguments.dataset("zip", f"datasets{path}", v)
        if not found:
            raise InvalidArgumentError("zip: there is no dataset; give at least one")
        inner = iter([d._node.structure for d in found])
        return found[0]._apply("zip", {"structure": structure.document()}, structure.replaced(inner), found[1:])

    def concatenate(self, dataset, name=None):
        """The elements of this dataset and then those of another, which have the same structure and dtypes.

        Example:
            >>> import infeed
            >>> [int(x) for x in infeed.Dataset.range(2).concatenate(infeed.Dataset.range(2))]
            [0, 1, 0, 1]
        """
        return self._apply("concatenate", inputs=[_arguments.dataset("concatenate", "dataset", dataset)])

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False, rerandomize_each_iteration=None):
        """Elements of datasets, which are drawn by chance.

        weights: how likely each dataset is, or a Dataset of such; None: all alike.
        stop_on_empty_dataset: end with the first dataset that ends; otherwise its
        elements are drawn from the others. rerandomize_each_iteration: None or True
        draws anew in each pass.

        Example:
            >>> import infeed
            >>> D = infeed.Dataset
            >>> len(list(D.sample_from_datasets([D.range(3), D.range(5)], weights=[0.5, 0.5], seed=1)))
            8
        """
        found = _datasets("sample_from_datasets", datasets)
        drawn, seed = _sources.seed_of("sample_from_datasets", seed)
        args = {"weights": None, "weights_dataset": isinstance(weights, Mixing), "stop_on_empty_dataset": bool(stop_on_empty_dataset),
                "seed": seed, "drawn": drawn, "rerandomize_each_iteration": rerandomize_each_iteration is None or bool(rerandomize_each_iteration)}
        more = [weights] if args["weights_dataset"] else []
        if weights is not None and not more:
            args["weights"] = _reals("sample_from_datasets", "weights", weights)
        return found[0]._apply("sample_from_datasets", args, inputs=[*found[1:], *more])

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """The next element of the dataset whose number choice_dataset, of int64 scalars, gives.

        Example:
            >>> import infeed
            >>> D = infeed.Dataset
            >>> [int(x) for x in D.choose_from_datasets([D.range(3), D.range(10, 13)], D.from_tensor_slices([0, 1, 1]).map(lambda x: x.astype("int64")))]
            [0, 10, 11]
        """
        found = _datasets("choose_from_datasets", datasets)
        choice = _arguments.dataset("choose_from_datasets", "choice_dataset", choice_dataset)
        return found[0]._apply("choose_from_datasets", {"stop_on_empty_dataset": bool(stop_on_empty_dataset)}, inputs=[*found[1:], choice])

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """Pairs of a class and an element, some left out so that classes come as often as target_dist says.

        class_func: a function as map's, of elements to int32 classes. initial_dist: how
        often classes come in this dataset; None: it is estimated on the way.

        Example:
            >>> import infeed
            >>> ds = infeed.Dataset.range(100).rejection_resample(lambda x: (x % 2).astype("int32"), [0.0, 1.0], [0.5, 0.5], seed=1)
            >>> {int(c) for c, x in ds}
            {1}
        """
        drawn, seed = _sources.seed_of("rejection_resample", seed)
        args = {"target_dist": _reals("rejection_resample", "target_dist", target_dist), "seed": seed, "drawn": drawn,
                "initial_dist": None if initial_dist is None else _reals("rejection_resample", "initial_dist", initial_dist)}
        return self._with(_nodes.ClassNode(self._node, class_func, args))


def _datasets(op, value):
    found = [_arguments.dataset(op, f"datasets[{i}]", d) for i, d in enumerate(_arguments.items(op, "datasets", value))]
    if not found:
        raise InvalidArgumentError(f"{op}: there is no dataset; give at least one")
    return found


def _reals(op, name, value):
    try:
        a = np.asarray(value)
        if a.dtype.kind in "SU":
            raise TypeError("they are text")
        found = [float(v) for v in np.ravel(a)]
    except (TypeError, ValueError) as e:
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; numbers are needed") from e
    if not all(0 <= v < np.inf for v in found):
        raise InvalidArgumentError(f"{op}: {name} is {value!r:.100}; each must be a finite number that is not negative")
    return found
