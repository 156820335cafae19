package snapshot

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
)

// checkShard fails where a shard_func, if there is one, gives no integers.
func checkShard(op string, shard dataset.Program) error {
	if shard == nil {
		return nil
	}
	return dataset.IsInteger(op, "shard_func", shard.Spec())
}

// sharder finds the streams of the elements of a pass.
type sharder struct {
	program dataset.Program // nil: they are not divided
	scope   *dataset.Scope
	key     rng.Key
	scratch block.Buffer
}

func newSharder(shard dataset.Program, s *dataset.Scope, pass rng.Key) *sharder {
	return &sharder{program: shard, scope: s, key: pass.Derive(shardWord)}
}

// shardWord sets the random numbers of shard_func apart from others.
const shardWord = 0x7368617264

// of returns the streams of the elements of a block, the first of which is number first
// of the pass; nil where they are not divided.
func (d *sharder) of(b block.Block, first int64) ([]int64, error) {
	if d.program == nil {
		return nil, nil
	}
	d.scratch.Reset()
	out, err := dataset.Integers(d.scope, d.program, b, dataset.Chance{Key: d.key, First: first}, &d.scratch)
	if err != nil {
		return nil, err
	}
	for _, n := range out {
		if err := checkStream(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}
