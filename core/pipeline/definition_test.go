package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
)

func TestParseReadsWhatPythonWrites(t *testing.T) {
	x := numbers(10).Arrays[0].Data
	text := fmt.Sprintf(`[{"op": "from_tensor_slices", "args": {"rows": 10, "structure": {"dict": [["x", null]]},
			"arrays": [{"dtype": "<i8", "shape": [], "address": %d, "bytes": 80}]}, "inputs": []},
		{"op": "shuffle", "args": {"buffer_size": null, "seed": 18446744073709551615, "drawn": false, "same_each_pass": false}, "inputs": [0]},
		{"op": "batch", "args": {"batch_size": 4, "drop_remainder": true}, "inputs": [1]}]`, uintptr(unsafe.Pointer(&x[0])))
	all, err := Parse([]byte(text), nil)
	require.NoError(t, err)
	require.Len(t, all, 3)
	require.EqualValues(t, 10, all[1].Cardinality())
	d := all[2]
	require.EqualValues(t, 2, d.Cardinality())
	require.Equal(t, []string{"from_tensor_slices(10 rows)",
		"shuffle(buffer_size=None, seed=18446744073709551615, reshuffle_each_iteration=True)",
		"batch(batch_size=4, drop_remainder=True)", "elements {'x': int64[4]}"}, d.structure())
	same := numbers(10)
	same.Arrays, same.Structure = same.Arrays[:1], d.def.Spec().Structure
	again := open(t, same, &Shuffle{Seed: 1<<64 - 1}, &Batch{BatchSize: 4, DropRemainder: true})
	require.Equal(t, d.structure(), again.structure())
	require.Equal(t, read(t, iterate(t, again, Options{}), -1), read(t, iterate(t, d, Options{}), -1))
}

func TestParseRefusesNonsense(t *testing.T) {
	one := `{"op":"from_tensor_slices","args":{"rows":1,"structure":null,"arrays":[{"dtype":"<i8","shape":[],"address":0,"bytes":8}]},"inputs":[]}`
	none := strings.NewReplacer(`"rows":1`, `"rows":0`, `"bytes":8`, `"bytes":0`).Replace(one)
	for want, text := range map[string]string{
		"cannot be read":             `[{"op": `,
		"there is no operation in":   `[]`,
		"unknown field":              `[{"op": "batch", "arguments": {}}]`,
		`no operation "polish"`:      `[{"op": "polish", "args": {}}]`,
		"arguments of batch":         `[{"op": "batch", "args": {"size": 3}}]`,
		"works on 1 datasets; 0":     `[{"op": "batch", "args": {"batch_size": 3}}]`,
		"8 bytes at address 0":       `[` + one + `]`,
		"is not a dtype":             `[` + strings.Replace(one, "<i8", "|O4", 1) + `]`,
		"more than 1000 operations":  `[` + none + longChain(1100) + `]`,
		"batch_size is 0":            `[` + none + `, {"op":"batch","args":{"batch_size":0},"inputs":[0]}]`,
		"has 0 bytes; 1 rows":        `[` + strings.Replace(one, `"bytes":8`, `"bytes":0`, 1) + `]`,
		"-8 bytes at address 5":      `[` + strings.Replace(one, `"address":0,"bytes":8`, `"address":5,"bytes":-8`, 1) + `]`,
		"works on 0 datasets; 1":     `[` + none + `, ` + strings.Replace(none, `"inputs":[]`, `"inputs":[0]`, 1) + `]`,
		"works on number 1; it must": `[` + none + `, {"op":"take","args":{"count":1},"inputs":[1]}]`,
		"works on number -1; it mus": `[` + none + `, {"op":"take","args":{"count":1},"inputs":[-1]}]`,
		"nobody knows dataset 9":     `[{"handle":9}, {"op":"take","args":{"count":1},"inputs":[0]}]`,
		"buffer_size is 0":           `[` + none + `, {"op":"shuffle","args":{"buffer_size":0},"inputs":[0]}]`,
		"1 arrays for the 2 compone": `[` + strings.Replace(none, `"structure":null`, `"structure":{"tuple":[null,null]}`, 1) + `]`,
	} {
		_, err := Parse([]byte(text), nil)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
}

// longChain is n operations behind the first of a list.
func longChain(n int) string {
	var s strings.Builder
	for i := range n {
		fmt.Fprintf(&s, `, {"op":"take","args":{"count":1},"inputs":[%d]}`, i)
	}
	return s.String()
}

// What a definition uses more than once is written, built and opened once.
func TestDefinitionsThatUseOthersTwiceStaySmall(t *testing.T) {
	const doublings = 40
	const always = `{"nodes": [{"op": "const", "attrs": {"dtype": "|b1", "shape": [], "data": "AQ=="}}], "outputs": [1], "structure": null}`
	text := `[{"op": "range", "args": {"start": 0, "stop": 3, "step": 1, "output_type": "<i8"}}, {"op": "shuffle", "args": {"seed": 5}, "inputs": [0]}`
	for i := range doublings {
		text += fmt.Sprintf(`, {"op": "concatenate", "args": {}, "inputs": [%d, %d]}`, i+1, i+1)
	}
	all, err := Parse([]byte(text+`, {"op": "filter", "args": {"predicate": {"name": "all", "program": `+always+`}}, "inputs": [41]}]`), nil)
	require.NoError(t, err)
	for _, d := range all[doublings+1:] { // random access, and one after the other
		it := iterate(t, d, Options{Workers: 1})
		g, err := it.Next()
		require.NoError(t, err)
		require.Len(t, it.Stats().Stages, len(d.structure())-doublings-1)
		s := d.State(0, 3, nil)
		require.Equal(t, []uint64{5}, s.Seeds)
		s.Seeds = []uint64{6}
		again, err := iterate(t, d, Options{State: &s}).Next()
		require.NoError(t, err)
		g.Release()
		again.Release()
	}
	require.EqualValues(t, int64(3)<<doublings, all[doublings+1].Cardinality())
	require.Equal(t, []string{"range(0, 3, 1)", "shuffle(buffer_size=None, seed=5, reshuffle_each_iteration=True)",
		"again(1)", "concatenate()", "again(2)", "concatenate()", "elements int64[]"}, all[3].structure())
	inside, err := Parse(list(t, on("flat_map", returning(`7`, "null", int64Spec), rangeTo("2"))), func(uint64) (*Dataset, error) { return all[doublings+1], nil })
	require.NoError(t, err)
	require.Contains(t, inside[1].structure()[1], "again(2), concatenate(), again(3)")
	require.Equal(t, []uint64{5}, inside[1].State(0, 0, nil).Seeds)
}

func TestOptionsThatMakeNoSense(t *testing.T) {
	d := open(t, numbers(3))
	for _, o := range []Options{{Pass: -1}, {Workers: -1}, {RAMBudget: -1}} {
		_, err := d.Iterate(o)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
}

func TestStateOfAnotherDatasetIsRefused(t *testing.T) {
	mine := []Op{numbers(23), &Shuffle{Seed: 5}, &Batch{BatchSize: 4}}
	d := open(t, mine...)
	for want, ops := range map[string][]Op{
		"step 0 was from_tensor_slices(22 rows) and is from_tensor_slices(23 rows) here":                        {numbers(22), mine[1], mine[2]},
		"step 1 was shuffle(buffer_size=None, seed=6, reshuffle_each_iteration=True) and is shuffle":            {numbers(23), &Shuffle{Seed: 6}, mine[2]},
		"step 1 was shuffle(buffer_size=None, seed=None, reshuffle_each_iteration=True) and is shuffle":         {numbers(23), &Shuffle{Seed: 5, Drawn: true}, mine[2]},
		"step 1 was shuffle(buffer_size=30, seed=5, reshuffle_each_iteration=False) and is shuffle":             {numbers(23), &Shuffle{Seed: 5, SameEachPass: true, BufferSize: ptr(int64(30))}, mine[2]},
		"step 2 was batch(batch_size=5, drop_remainder=False) and is batch(batch_size=4, drop_remainder=False)": {numbers(23), mine[1], &Batch{BatchSize: 5}},
		"step 1 was batch(batch_size=4, drop_remainder=False) and is shuffle":                                   {numbers(23), mine[2]},
	} {
		s := open(t, ops...).State(0, 1, nil)
		_, err := d.Iterate(Options{State: &s})
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
}

func TestStateThatIsDamagedIsRefused(t *testing.T) {
	d := open(t, numbers(23), &Shuffle{Seed: 5})
	for want, damage := range map[string]func(*State){
		"format 2":        func(s *State) { s.Format = 2 },
		`kind "pydata`:    func(s *State) { s.Kind = "pydataset" },
		"version 9":       func(s *State) { s.Order = 9 },
		"0 seeds":         func(s *State) { s.Seeds = nil },
		"element 24 of a": func(s *State) { s.Position = 24 },
		"element -1 of":   func(s *State) { s.Position = -1 },
		"pass -1":         func(s *State) { s.Pass = -1 },
		"leaves out":      func(s *State) { s.Fingerprint = "0" },
		"step 2 was noth": func(s *State) { s.Fingerprint, s.Structure = "0", s.Structure[:2] },
	} {
		s := d.State(1, 3, nil)
		damage(&s)
		_, err := d.Iterate(Options{State: &s})
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
}

func TestStatesOfLongPipelinesStaySmall(t *testing.T) {
	ops := []Op{numbers(23)}
	for range 20 {
		ops = append(ops, &Shuffle{Seed: 1<<64 - 1, BufferSize: ptr(int64(1 << 40))}, &Skip{Count: 0})
	}
	s := open(t, ops...).State(3, 5, nil)
	require.Less(t, len(strings.Join(s.Structure, "")), textBudget+1)
	require.Len(t, s.Structure, 42)
}
