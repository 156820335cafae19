"""Read from a shared library which versions of the C library it needs.

A library linked on one machine loads on another whose C library is at least
as new as the newest *version need* in it. The needs stand in the section
SHT_GNU_verneed: one record for each library, followed by one for each version
(System V ABI, gabi chapter 4; Linux Standard Base, "Symbol Versioning").
"""

import re
import struct

_VERNEED = 0x6FFFFFFE
_HEADER = struct.Struct("<16xHHIQQQIHHHHHH")  # ELF64 header after e_ident
_SECTION = struct.Struct("<IIQQQQIIQQ")
_NEED = struct.Struct("<HHIII")  # version, count, file, first version, next need
_VERSION = struct.Struct("<IHHII")  # hash, flags, index, name, next version


def needed_versions(path):
    """Return the set of (library, version) pairs that the ELF file at `path` needs.

    Raises ValueError where the file is no 64-bit little-endian ELF file.

    >>> needed_versions("/lib/libexample.so")  # doctest: +SKIP
    {('libc.so.6', 'GLIBC_2.34'), ('libc.so.6', 'GLIBC_2.2.5')}
    """
    with open(path, "rb") as file:
        data = file.read()
    if data[:6] != b"\x7fELF\x02\x01":
        raise ValueError(f"{path} is not a 64-bit little-endian ELF file")
    try:
        return set(_needs(data))
    except (struct.error, IndexError, ValueError) as err:
        raise ValueError(f"{path} is damaged: {err}") from err


def glibc_level(path):
    """Return the oldest glibc, such as (2, 34), that can load the ELF file at `path`; () if it needs none."""
    found = (re.fullmatch(r"GLIBC_(\d+(?:\.\d+)+)", version) for _, version in needed_versions(path))
    levels = [tuple(map(int, match[1].split("."))) for match in found if match]
    return max(levels, default=())


def _needs(data):
    header = _HEADER.unpack_from(data)
    table, size, count = header[5], header[10], header[11]
    sections = [_SECTION.unpack_from(data, table + i * size) for i in range(count)]
    for _, kind, _, _, offset, _, link, number, _, _ in sections:
        if kind != _VERNEED:
            continue
        names = sections[link][4]
        for _ in range(number):
            _, versions, file, first, step = _NEED.unpack_from(data, offset)
            at = offset + first
            for _ in range(versions):
                _, _, _, name, next_version = _VERSION.unpack_from(data, at)
                yield _text(data, names + file), _text(data, names + name)
                at += next_version
            offset += step


def _text(data, at):
    return data[at : data.index(b"\0", at)].decode("ascii")
