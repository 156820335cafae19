"""The command `infeed`: what can be asked of it.

`infeed doctor` must work where nothing else does, so that the other commands are loaded
only when they are asked for.
"""

import argparse
import json

import infeed
from infeed import _doctor


def main(arguments=None):
    """Run the command line; return the exit status."""
    options = _parser().parse_args(arguments)
    if options.command == "doctor":
        report = _doctor.examine()
        print(json.dumps(report, indent=2) if options.json else _doctor.describe(report))
        return 1 if report["problems"] else 0
    from infeed import _commands

    return _commands.run(options)


def _parser():
    parser = argparse.ArgumentParser(prog="infeed", description="Tools for infeed's input pipelines.")
    parser.add_argument("--version", action="version", version=f"infeed {infeed.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name, help, paths=()):
        command = commands.add_parser(name, help=help, description=help[0].upper() + help[1:] + ".")
        for path, about in paths:
            command.add_argument(path, help=about)
        command.add_argument("--json", action="store_true", help="print one JSON object")
        return command

    add("doctor", "tell what was built in and what this machine offers")
    add("inspect", "say what is in a TFRecord file, snapshot, saved dataset, state, checkpoint or backup",
        [("path", "a file, or a folder")])
    add("verify", "read all of a TFRecord file, snapshot, saved dataset, checkpoint or backup; exit status 1 at damage",
        [("path", "a file, or a folder")])
    convert = add("convert", "write the elements of TFRecord files, a snapshot or a saved dataset in another format")
    convert.add_argument("sources", nargs="+", metavar="SRC", help="a folder, or one or more TFRecord files, compressed or not")
    convert.add_argument("destination", metavar="DST", help="what is to be written: a TFRecord file, or a folder")
    convert.add_argument("--to", choices=("infeed", "tf", "tfrecord"), help="a snapshot of infeed's, what tf.data.Dataset.load reads, or a TFRecord file; "
                         "by default a TFRecord file where DST is named so (.tfrecord, .tfrecord.gz, ...), else a snapshot of infeed's")
    convert.add_argument("--compression", metavar="NAME", help="NONE (the default), GZIP, ZSTD (not for tf), ZLIB (for tfrecord), SNAPPY or AUTO "
                         "(not for tfrecord); of a TFRecord file by default what its name says")
    convert.add_argument("--spec", metavar="TEXT", help="what elements of SRC are like, where it does not say, as what Dataset.snapshot of tf.data stored: "
                         "\"(float32[28, ?], {'label': int64[], 'text': string[]})\"")
    convert.add_argument("--force", action="store_true", help="replace what is in DST")
    prune = add("prune", "list what is of no use any more in a folder of snapshots or a saved dataset, and remove it after a yes", [("path", "a folder")])
    prune.add_argument("--yes", action="store_true", help="remove without asking (with --json, nothing is removed without it)")
    return parser
