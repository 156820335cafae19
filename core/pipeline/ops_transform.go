package pipeline

import (
	"fmt"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/transform"
)

// transformOps makes the operations on datasets.
var transformOps = map[string]func() Op{
	"shuffle": func() Op { return &Shuffle{} },
	"repeat":  func() Op { return &Repeat{} },
	"batch":   func() Op { return &Batch{} },
	"take":    func() Op { return &Take{} },
	"skip":    func() Op { return &Skip{} },
	"shard":   func() Op { return &Shard{} },

	"map":         func() Op { return &Map{} },
	"filter":      func() Op { return &Filter{} },
	"take_while":  func() Op { return &TakeWhile{} },
	"scan":        func() Op { return &Scan{} },
	"reduce":      func() Op { return &Reduce{} },
	"enumerate":   func() Op { return &Enumerate{} },
	"zip":         func() Op { return &Zip{} },
	"concatenate": func() Op { return &Concatenate{} },
	"unbatch":     func() Op { return &Unbatch{} },

	"rebatch":      func() Op { return &Rebatch{} },
	"padded_batch": func() Op { return &PaddedBatch{} },
	"ragged_batch": func() Op { return &RaggedBatch{} },
	"sparse_batch": func() Op { return &SparseBatch{} },
	"window":       func() Op { return &Window{} },
	"dataset_of":   func() Op { return &DatasetOf{} },

	"unique":             func() Op { return &Unique{} },
	"ignore_errors":      func() Op { return &IgnoreErrors{} },
	"cache":              func() Op { return &Cache{} },
	"prefetch":           func() Op { return &Prefetch{} },
	"assert_cardinality": func() Op { return &AssertCardinality{} },

	"sample_from_datasets": func() Op { return &SampleFromDatasets{} },
	"choose_from_datasets": func() Op { return &ChooseFromDatasets{} },
	"rejection_resample":   func() Op { return &RejectionResample{} },
}

// Shuffle orders elements by chance; see transform.Shuffle.
type Shuffle struct {
	onOne
	BufferSize *int64 `json:"buffer_size"` // nil: all elements
	Seed       uint64 `json:"seed"`
	// Drawn says that the user gave no seed: a state's seed then counts.
	Drawn bool `json:"drawn"`
	// SameEachPass is reshuffle_each_iteration=False.
	SameEachPass bool `json:"same_each_pass"`
	// PageSize is of how many elements the pages are that are shuffled; nil: of none.
	PageSize *int64 `json:"page_size"`
}

func (s *Shuffle) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	o := transform.ShuffleOptions{Seed: s.Seed, Height: uint64(height), SameEachPass: s.SameEachPass}
	if s.BufferSize != nil {
		if o.Window = *s.BufferSize; o.Window < 1 {
			return nil, errs.New(errs.InvalidArgument, "shuffle", "buffer_size is %d; it must be at least 1, or None for all", o.Window)
		}
	}
	if s.PageSize != nil {
		if o.Page = *s.PageSize; o.Page < 1 {
			return nil, errs.New(errs.InvalidArgument, "shuffle", "page_size is %d; it must be at least 1", o.Page)
		}
	}
	return transform.Shuffle(inputs[0], o)
}

func (s *Shuffle) seed() uint64 { return s.Seed }

func (s *Shuffle) reseeded(seed uint64) Op {
	copied := *s
	copied.Seed = seed
	return &copied
}

func (s *Shuffle) text() string {
	seed, buffer := "None", "None"
	if !s.Drawn {
		seed = fmt.Sprint(s.Seed)
	}
	if s.BufferSize != nil {
		buffer = fmt.Sprint(*s.BufferSize)
	}
	pages := ""
	if s.PageSize != nil {
		pages = fmt.Sprintf(", page_size=%d", *s.PageSize)
	}
	return fmt.Sprintf("shuffle(buffer_size=%s, seed=%s, reshuffle_each_iteration=%s%s)", buffer, seed, python(!s.SameEachPass), pages)
}

// Repeat is its input Count times over; -1: without end.
type Repeat struct {
	onOne
	Count int64 `json:"count"`
}

func (r *Repeat) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Repeat(inputs[0], r.Count)
}

func (r *Repeat) text() string { return fmt.Sprintf("repeat(count=%d)", r.Count) }

// Batch stacks BatchSize elements into one.
type Batch struct {
	onOne
	BatchSize     int64 `json:"batch_size"`
	DropRemainder bool  `json:"drop_remainder"`
}

func (b *Batch) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Batch(inputs[0], b.BatchSize, b.DropRemainder)
}

func (b *Batch) text() string {
	return fmt.Sprintf("batch(batch_size=%d, drop_remainder=%s)", b.BatchSize, python(b.DropRemainder))
}

// Take is the first Count elements; -1: all.
type Take struct {
	onOne
	Count int64 `json:"count"`
}

func (t *Take) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Take(inputs[0], t.Count)
}

func (t *Take) text() string { return fmt.Sprintf("take(count=%d)", t.Count) }

// Skip is what comes after the first Count elements; -1: nothing.
type Skip struct {
	onOne
	Count int64 `json:"count"`
}

func (s *Skip) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Skip(inputs[0], s.Count)
}

func (s *Skip) text() string { return fmt.Sprintf("skip(count=%d)", s.Count) }

// Shard is every NumShards-th element from Index on.
type Shard struct {
	onOne
	NumShards int64 `json:"num_shards"`
	Index     int64 `json:"index"`
}

func (s *Shard) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Shard(inputs[0], s.NumShards, s.Index)
}

func (s *Shard) text() string {
	return fmt.Sprintf("shard(num_shards=%d, index=%d)", s.NumShards, s.Index)
}
