"""Side-by-side benchmarks: infeed and its peers do the same work in the same run.

    python -m bench                 the table; `make bench` sets everything up
    python -m bench --only W1       figures whose name contains W1
    python -m bench --quick         a look in two minutes: fewer rounds, shorter runs
    python -m bench --json          one JSON line a figure and contender, instead
    python -m bench --install grain makes a virtual environment for a peer

Terms. A *figure* is a line of the table: a quantity, with the goal it has to reach. A
*contender* is one way of doing the work: infeed, or a peer. Each contender lives in a
*child*, a process with the interpreter that has it. A *round* measures every contender
of a figure once, one after the other; the value of a contender is the median of at
least five rounds, a ratio the median of the rounds' ratios. So what slows the machine
down for a while slows both sides of a ratio.

Every consumer, the peers' too, checks what it gets: the index of every batch, and a
checksum of a sample of its content (`batches.Checker`, `rows.Ledger`, and those of
`examples`, `csv_rows`, `pictures`, `numbers` and `functions`). A peer that delivers something wrong
keeps its figure and gets a note; infeed gets none.

Files are made from fixed seeds when they are first needed, see `cache`.

Figures are `w1_pydataset`, `w2_arrays`, `w3_records`, `w4_csv`, `w6_snapshots`, `w8_resume`,
`w9_start` and `w10_numbers`, one file a workload, and `permutation`. What is run is in `contenders`, one
file a library and subject. "Best of n forms" is a library whose guides have several ways
to say the same: each round runs them all and counts the fastest.

What takes gigabytes is apart: `python -m bench.snapshot_large`.
"""
