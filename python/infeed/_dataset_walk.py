"""Walks over an infeed.Dataset for Keras's sessions, and the state before each element that they delivered."""

import collections

from infeed._errors import InvalidArgumentError


def advance(iterator, count):
    """Goes past the first elements of a pass that nothing was taken of yet."""
    if count and iterator._random_access:
        iterator.load_state_dict({**iterator.state_dict(), "position": count})
    else:
        for _ in range(count):
            next(iterator)


class PassWalk:
    """A walk over one pass of a Dataset, by an iterator that stands at `start`."""

    def __init__(self, iterator, pass_, start, length):
        self.iterator, self.pass_ = iterator, pass_
        self.start, self.position, self.length = start, start, length

    def next(self):
        if self.position == self.length:
            raise StopIteration
        batch = next(self.iterator)
        self.position += 1
        return batch

    def state(self, position):
        """The iterator's state before an element that this walk delivered, or delivers next."""
        return self.iterator.state_dict(at=position - self.start)

    def close(self):
        self.iterator.close()


class Stream:
    """Walks over pass after pass of a Dataset, `length` elements at a time."""

    KEPT = 64  # passes that Keras may have read beyond what was trained on

    def __init__(self, begin, iterator=None):
        self.begin = begin
        self.iterator = begin(0) if iterator is None else iterator
        self.pass_ = self.iterator.state_dict()["pass"]
        self.number = None  # of the walk
        self.position, self.length = 0, None
        self._iterators = collections.deque([[0, self.iterator]], self.KEPT)  # each with the position of its first element

    def walk(self, number, start, length):
        """Begins a walk, whose first element is the one that comes next."""
        for entry in self._iterators:
            entry[0] += start - self.position
        self.number, self.position, self.length = number, start, length
        return self

    def next(self):
        if self.position == self.length:
            raise StopIteration
        try:
            batch = next(self.iterator)
        except StopIteration:
            self.pass_ += 1
            self.iterator = self.begin(self.pass_)
            batch = next(self.iterator)
            self._iterators.append([self.position, self.iterator])
        self.position += 1
        return batch

    def state(self, position):
        """As for `PassWalk`."""
        for first, iterator in reversed(self._iterators):
            if first <= position:
                return iterator.state_dict(at=position - first)
        raise InvalidArgumentError(f"the state before element {position} is no longer known: {self.KEPT} passes began since")

    def close(self):
        """Nothing: the next walk goes on from here."""
