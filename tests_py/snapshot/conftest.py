"""What the tests of snapshots share."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios

import pytest

from infeed import _cli


@pytest.fixture
def run(tmp_path):
    """run(text, *args): what a script, in a process of its own, prints as JSON."""
    def run(text, *args, check=True):
        script = tmp_path / "script.py"
        script.write_text(text)
        done = subprocess.run([sys.executable, script, *map(str, args)], capture_output=True, text=True, timeout=120, env=dict(os.environ))
        assert not check or done.returncode == 0, done.stderr
        return json.loads(done.stdout) if check else done
    return run


@pytest.fixture
def ask(capsys):
    """ask(*arguments): the exit status of the command `infeed`, and what it printed."""
    def ask(*arguments):
        status = _cli.main([str(a) for a in arguments])
        return status, capsys.readouterr()
    return ask


class Terminal:
    """A command whose stderr is a terminal; what it draws there is in `drawn`."""

    def __init__(self, *arguments):
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
        self.process = subprocess.Popen([sys.executable, "-m", "infeed", *map(str, arguments)], stdout=subprocess.PIPE, stderr=slave, text=True)
        os.close(slave)
        self._master, self.drawn = master, ""

    def wait_for(self, text):
        while text not in self.drawn:
            assert self._read(), self.drawn

    def end(self):
        """(exit status, stdout) of the command."""
        while self._read():
            pass
        out, _ = self.process.communicate(timeout=60)
        return self.process.returncode, out

    def _read(self):
        try:
            more = os.read(self._master, 4096).decode()
        except OSError:  # it was closed at the other end
            return False
        self.drawn += more
        return bool(more)

    def close(self):
        self.process.kill()
        self.process.communicate()
        os.close(self._master)


@pytest.fixture
def terminal():
    """terminal(*arguments): the command `infeed`, started with a terminal."""
    begun = []

    def start(*arguments):
        begun.append(Terminal(*arguments))
        return begun[-1]

    yield start
    for t in begun:
        t.close()
