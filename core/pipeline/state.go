package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
)

// State is where an iterator is: before element Position of pass Pass. As JSON it
// is less than a kilobyte and holds no element.
type State struct {
	Format      int       `json:"format"`
	Kind        string    `json:"kind"`
	Order       int       `json:"order_version"`
	Fingerprint string    `json:"fingerprint"`
	Structure   []string  `json:"structure"`
	Pass        int64     `json:"pass"`
	Position    int64     `json:"position"` // in the pass, over all of its readers
	Seeds       []uint64  `json:"seeds,omitempty"`
	Shard       *[2]int64 `json:"shard,omitempty"` // how many readers there were, which one saved
	// Token and Rows say where a dataset that is not indexed is: Rows elements after
	// the token.
	Token *dataset.Token `json:"token,omitempty"`
	Rows  int64          `json:"rows,omitempty"`
	// Reader is how many readers share the dataset by its own shard, and which of them
	// it is; Rest what there was when the number of them last changed: Position counts
	// from there.
	Reader *[2]int64 `json:"reader,omitempty"`
	Rest   *Rest     `json:"rest,omitempty"`
}

const (
	stateFormat = 1
	stateKind   = "dataset"

	// textBudget is how many characters of the structure a state holds, to be able
	// to say what differs.
	textBudget = 600
	shortText  = 12
)

// seeded is an operation with a seed that may have been drawn.
type seeded interface {
	Op
	seed() uint64
	reseeded(seed uint64) Op
}

// facts is what all states of a dataset have in common.
type facts struct {
	once        sync.Once
	structure   []string
	fingerprint string
	seeds       []uint64
	reader      *[2]int64
}

// known returns the facts of a dataset.
func (d *Dataset) known() *facts {
	f := &d.facts
	f.once.Do(func() {
		f.structure = d.structure()
		f.fingerprint = fingerprint(f.structure)
		f.structure = shortened(f.structure)
		f.seeds = d.root.seeds()
		if s, _ := d.sharing(); s != nil {
			f.reader = &[2]int64{s.shard.NumShards, s.shard.Index}
		}
	})
	return f
}

// seeds returns the seeds of a definition, those of its inputs first.
func (n *Node) seeds() []uint64 {
	var out []uint64
	n.visit(func(n *Node) {
		if op, ok := n.Op.(seeded); ok {
			out = append(out, op.seed())
		} else if op, ok := n.Op.(containing); ok {
			out = append(out, op.seeds()...)
		}
	}, nil)
	return out
}

// structure returns the operations of a definition in words, its source first. Which
// reader it is is left out, where readers share it.
func (d *Dataset) structure() []string {
	var shard Op
	if s, _ := d.sharing(); s != nil {
		shard = s.shard
	}
	return append(d.root.texts(shard), "elements "+d.elements.String())
}

// texts returns the operations of a definition in words, its source first, shard without
// arguments. Where one is used once more, its place is there.
func (n *Node) texts(shard Op) []string {
	var out []string
	n.visit(func(n *Node) {
		if n.Op == shard {
			out = append(out, "shard()")
			return
		}
		out = append(out, n.Op.text())
	}, func(place int) { out = append(out, fmt.Sprintf("again(%d)", place)) })
	return out
}

// fingerprint is a hash of the structure.
func fingerprint(structure []string) string {
	sum := sha256.Sum256([]byte(strings.Join(structure, "\n")))
	return hex.EncodeToString(sum[:8])
}

// shortened keeps of a structure what a state has room for.
func shortened(structure []string) []string {
	if most := textBudget / shortText; len(structure) > most {
		structure = structure[len(structure)-most:]
	}
	if len(strings.Join(structure, "")) <= textBudget {
		return structure
	}
	out := make([]string, len(structure))
	for i, s := range structure {
		out[i] = s[:min(len(s), textBudget/len(structure))]
	}
	return out
}

// State returns the state before element position of a pass.
func (d *Dataset) State(pass, position int64, shard *[2]int64) State {
	f := d.known()
	return State{
		Format: stateFormat, Kind: stateKind, Order: rng.OrderVersion,
		Fingerprint: f.fingerprint, Structure: f.structure, Seeds: f.seeds,
		Pass: pass, Position: position, Shard: shard, Reader: f.reader, Rest: d.rest,
	}
}

// resumed returns the dataset as it was when s was saved, with the seeds that were
// drawn then, and the state in it: another one, where s is another reader's.
func (d *Dataset) resumed(s *State) (*Dataset, *State, error) {
	if err := d.accepts(s); err != nil {
		return nil, nil, err
	}
	if mine := d.known().reader; mine != nil && *mine != *s.Reader {
		if !d.Indexed() {
			return nil, nil, errs.New(errs.StateMismatch, "load_state_dict", "the state is of reader %d of %d, and this dataset is reader %d of %d; give a list of the states of all %d",
				s.Reader[1], s.Reader[0], mine[1], mine[0], s.Reader[0])
		}
		s = d.inStep(s)
	}
	seeded, err := d.seeded(s.Seeds)
	if err == nil {
		seeded, err = seeded.continued(s.Rest)
	}
	return seeded, s, err
}

// inStep returns the state of this reader where all readers that there were had taken
// as much as the one that saved s.
func (d *Dataset) inStep(s *State) *State {
	at, _ := d.sharing()
	taken := make([]int64, s.Reader[0])
	for i := range taken {
		taken[i] = s.Position * at.each
	}
	out := *s
	out.Position, out.Rest = 0, s.Rest.and(taken, nil)
	return &out
}

// seeded returns the dataset with other seeds.
func (d *Dataset) seeded(seeds []uint64) (*Dataset, error) {
	if slices.Equal(seeds, d.known().seeds) {
		return d, nil
	}
	return New(d.root.withSeeds(&seeds))
}

// accepts says what keeps a state from being loaded.
func (d *Dataset) accepts(s *State) error {
	const op = "load_state_dict"
	if s.Format != stateFormat || s.Kind != stateKind {
		return errs.New(errs.StateMismatch, op, "the state has kind %q and format %d; a %q of format %d is needed", s.Kind, s.Format, stateKind, stateFormat)
	}
	if s.Order != rng.OrderVersion {
		return errs.New(errs.StateMismatch, op, "the state was saved with version %d of the order of shuffles, this infeed has version %d; use the infeed it was saved with", s.Order, rng.OrderVersion)
	}
	mine := d.known()
	if s.Fingerprint != mine.fingerprint && (s.Fingerprint != fingerprint(s.Structure) || !slices.EqualFunc(s.Structure, mine.structure, sameStep)) {
		return errs.New(errs.StateMismatch, op, "the state is of another dataset: %s", difference(s.Structure, mine.structure))
	}
	if len(s.Seeds) != len(mine.seeds) {
		return errs.New(errs.StateMismatch, op, "the state has %d seeds, the dataset %d", len(s.Seeds), len(mine.seeds))
	}
	if (s.Reader == nil) != (mine.reader == nil) || s.Reader == nil && s.Rest != nil {
		return errs.New(errs.StateMismatch, op, "the state does not say which reader it is of, or the dataset has no readers")
	}
	if r := s.Reader; r != nil && (r[0] < 1 || r[0] > mostReaders || r[1] < 0 || r[1] >= r[0]) {
		return errs.New(errs.StateMismatch, op, "the state is of reader %d of %d", r[1], r[0])
	}
	if s.Pass < 0 {
		return errs.New(errs.StateMismatch, op, "the state is of pass %d", s.Pass)
	}
	return nil
}

// program is how the program of a function is told in a step.
var program = regexp.MustCompile("#[0-9a-f]{12}")

// sameStep tells whether two steps are the same, but for functions that had no program
// when the first was saved: those ran as Python then, and what they give is the same.
func sameStep(theirs, ours string) bool {
	for _, at := range slices.Backward(program.FindAllStringIndex(ours, -1)) {
		from, to := at[0], at[1]
		if left := len(theirs) - (len(ours) - to); left < to-from || theirs[left-(to-from):left] != ours[from:to] {
			ours = ours[:from] + ours[to:]
		}
	}
	return theirs == ours
}

// difference says where two structures part.
func difference(theirs, ours []string) string {
	for i := range max(len(theirs), len(ours)) {
		a, b := "nothing", "nothing"
		if i < len(theirs) {
			a = theirs[i]
		}
		if i < len(ours) {
			b = ours[i]
		}
		if a != b {
			return fmt.Sprintf("step %d was %s and is %s here", i, a, b)
		}
	}
	return "the difference is in what its description leaves out"
}

// withSeeds returns a copy of the definition in which shuffles have the given seeds. What
// has no seed in it stays as it was built.
func (n *Node) withSeeds(seeds *[]uint64) *Node { return reseeding{}.node(n, seeds) }

// reseeding knows the copies of the nodes that were met; nil: those that stay.
type reseeding map[*Node]*Node

func (r reseeding) node(n *Node, seeds *[]uint64) *Node {
	if out, met := r[n.origin()]; out != nil {
		return out
	} else if met {
		return n
	}
	out, same := &Node{Op: n.Op}, true
	for _, input := range n.Inputs {
		in := r.node(input, seeds)
		out.Inputs, same = append(out.Inputs, in), same && in == input
	}
	if op, ok := n.Op.(seeded); ok {
		out.Op, same = op.reseeded((*seeds)[0]), false
		*seeds = (*seeds)[1:]
	} else if op, ok := n.Op.(containing); ok {
		before := len(*seeds)
		out.Op = op.withSeeds(seeds)
		same = same && len(*seeds) == before
	}
	if same {
		r[n.origin()] = nil
		return n
	}
	r[n.origin()] = out
	return out
}
