"""How far long work is: one line on a terminal, and nothing anywhere else."""

import contextlib
import os
import sys
import threading
import time

_EVERY = 0.1  # seconds between two drawings
_WIDTH = 24  # of the bar, in characters


class Progress:
    """The line of one piece of work, on stderr while it is under way.

    what: a word or two. total: how many there are in the end; None: it is not known.
    unit: what is counted; "bytes" are written as such. Nothing is drawn where `shown`
    is false or stderr is no terminal.
    """

    def __init__(self, what, total=None, unit="elements", shown=True):
        self.what, self.total, self.unit = what, total, unit
        self.shown = shown and sys.stderr.isatty()
        self._began, self._drawn = time.monotonic(), None

    def at(self, done):
        """Says that so many are done."""
        now = time.monotonic()
        if self.shown and (self._drawn is None or now - self._drawn >= _EVERY):
            self._drawn = now
            self._put(self.line(done, now - self._began, _columns()))

    def line(self, done, seconds, columns):
        """What is drawn after so many seconds."""
        count, rate = self._amount(done), self._amount(done / max(seconds, 1e-9))
        if not self.total:
            return f"{self.what} {count} {self.unit}, {rate}/s"[:columns - 1]
        share = min(done / self.total, 1)
        left = _clock(seconds * (1 / share - 1)) if share else "-"
        text = f"{share:4.0%} {count} of {self._amount(self.total)} {self.unit}, {rate}/s, {left} left"
        filled = round(share * _WIDTH)
        bar = f"{self.what} [{'#' * filled}{'-' * (_WIDTH - filled)}] "
        return (bar + text if len(bar + text) < columns else f"{self.what} {text}")[:columns - 1]

    def _amount(self, n):
        for step, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
            if n >= 10 * step:
                return f"{n / step:.1f} {name}"
        return f"{n:.0f}"

    @contextlib.contextmanager
    def watching(self, done):
        """Draws what done() returns, from a thread, while the body of a `with` runs."""
        if not self.shown:
            yield
            return
        over = threading.Event()

        def watch():
            while True:
                self.at(done())
                if over.wait(_EVERY):
                    return

        thread = threading.Thread(target=watch, name="infeed progress", daemon=True)
        try:  # an interrupt may come as soon as it runs
            thread.start()
            yield
        finally:
            over.set()
            if thread.ident is not None:
                thread.join()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._drawn is not None:
            self._put("")

    def _put(self, text):
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def _columns():
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


def _clock(seconds):
    if seconds < 60:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"
