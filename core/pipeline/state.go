package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

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

// structure returns the operations of a definition in words, its source first.
func (d *Dataset) structure() []string {
	var out []string
	d.root.visit(func(n *Node) { out = append(out, n.Op.text()) })
	return append(out, d.elements)
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
	structure := d.structure()
	s := State{
		Format: stateFormat, Kind: stateKind, Order: rng.OrderVersion,
		Fingerprint: fingerprint(structure), Structure: shortened(structure),
		Pass: pass, Position: position, Shard: shard,
	}
	d.root.visit(func(n *Node) {
		if op, ok := n.Op.(seeded); ok {
			s.Seeds = append(s.Seeds, op.seed())
		} else if op, ok := n.Op.(containing); ok {
			s.Seeds = append(s.Seeds, op.seeds()...)
		}
	})
	return s
}

// resumed returns the dataset as it was when s was saved: with the seeds that were
// drawn then.
func (d *Dataset) resumed(s *State) (*Dataset, error) {
	if err := d.accepts(s); err != nil {
		return nil, err
	}
	seeds := s.Seeds
	root := d.root.withSeeds(&seeds)
	return New(root)
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
	structure := d.structure()
	if s.Fingerprint != fingerprint(structure) {
		return errs.New(errs.StateMismatch, op, "the state is of another dataset: %s", difference(s.Structure, shortened(structure)))
	}
	mine := d.State(0, 0, nil)
	if len(s.Seeds) != len(mine.Seeds) {
		return errs.New(errs.StateMismatch, op, "the state has %d seeds, the dataset %d", len(s.Seeds), len(mine.Seeds))
	}
	if s.Pass < 0 {
		return errs.New(errs.StateMismatch, op, "the state is of pass %d", s.Pass)
	}
	return nil
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

// withSeeds returns a copy of the tree in which shuffles have the given seeds.
func (n *Node) withSeeds(seeds *[]uint64) *Node {
	out := &Node{Op: n.Op}
	for _, input := range n.Inputs {
		out.Inputs = append(out.Inputs, input.withSeeds(seeds))
	}
	if op, ok := n.Op.(seeded); ok {
		out.Op = op.reseeded((*seeds)[0])
		*seeds = (*seeds)[1:]
	} else if op, ok := n.Op.(containing); ok {
		out.Op = op.withSeeds(seeds)
	}
	return out
}
