package pipeline

import (
	"fmt"
	"unsafe"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/source"
	"infeed/core/spec"
)

// sourceOps makes the operations without inputs, and "indexed", which is about files.
var sourceOps = map[string]func() Op{
	"from_tensor_slices":       func() Op { return &Slices{} },
	"from_tensors":             func() Op { return &Tensors{} },
	"range":                    func() Op { return &Range{} },
	"counter":                  func() Op { return &Counter{} },
	"random":                   func() Op { return &Random{} },
	"from_generator":           func() Op { return &Generator{} },
	"from_indexable":           func() Op { return &Indexable{} },
	"list_files":               func() Op { return &ListFiles{} },
	"TFRecordDataset":          func() Op { return &TFRecord{} },
	"TextLineDataset":          func() Op { return &TextLine{} },
	"FixedLengthRecordDataset": func() Op { return &FixedLength{} },
	"CsvDataset":               func() Op { return &Csv{} },
	"indexed":                  func() Op { return &Indexed{} },
}

// Slices is the source whose elements are the rows of arrays.
type Slices struct {
	Rows      int64          `json:"rows"`
	Structure spec.Structure `json:"structure"`
	Arrays    []Array        `json:"arrays"`
}

// Array is one array in memory, C-contiguous. It is used in place, and must stay
// as it is until the dataset and its iterators are closed.
type Array struct {
	DType   string  `json:"dtype"` // NumPy's dtype.str
	Shape   []int64 `json:"shape"` // of one row
	Address uint64  `json:"address"`
	Bytes   int64   `json:"bytes"`
	Data    []byte  `json:"-"` // instead of Address and Bytes
	// Offsets is the address of int64 numbers, one more than there are strings, that
	// say where each begins and ends in an array of text.
	Offsets uint64 `json:"offsets"`
}

func (a *Array) memory() ([]byte, error) {
	if a.Data != nil || a.Bytes == 0 {
		return a.Data, nil
	}
	if a.Address == 0 || a.Bytes < 0 {
		return nil, errs.New(errs.InvalidArgument, "from_tensor_slices", "%d bytes at address %d", a.Bytes, a.Address)
	}
	// The address is of memory outside the Go heap, which vet cannot know.
	p := *(**byte)(unsafe.Pointer(&a.Address))
	return unsafe.Slice(p, a.Bytes), nil
}

func (s *Slices) inputs() int { return 0 }

func (s *Slices) build(_ []dataset.Definition, _ int) (dataset.Definition, error) {
	return arrays(s.Structure, s.Arrays, s.Rows, func(e *spec.Element, numbers [][]byte, texts []*block.Text) (dataset.Definition, error) {
		return source.Slices(e, s.Rows, numbers, texts...)
	})
}

// arrays gives make the memory of arrays, each of so many rows.
func arrays(structure spec.Structure, in []Array, rows int64, make func(*spec.Element, [][]byte, []*block.Text) (dataset.Definition, error)) (dataset.Definition, error) {
	e := &spec.Element{Structure: structure}
	var numbers [][]byte
	var texts []*block.Text
	for i := range in {
		a := &in[i]
		d, err := spec.ParseDType(a.DType)
		if err != nil {
			return nil, err
		}
		memory, err := a.memory()
		if err != nil {
			return nil, err
		}
		c := spec.Component{DType: d, Shape: a.Shape}
		if c.IsText() {
			t, err := a.text(memory, rows*c.Count())
			if err != nil {
				return nil, err
			}
			texts, memory = append(texts, t), nil
		}
		e.Components = append(e.Components, c)
		numbers = append(numbers, memory)
	}
	return make(e, numbers, texts)
}

func (s *Slices) text() string {
	return fmt.Sprintf("from_tensor_slices(%d rows)", s.Rows)
}

// Tensors is the source whose one element is its arrays.
type Tensors struct {
	Structure spec.Structure `json:"structure"`
	Arrays    []Array        `json:"arrays"`
}

func (t *Tensors) inputs() int { return 0 }

func (t *Tensors) build(_ []dataset.Definition, _ int) (dataset.Definition, error) {
	return arrays(t.Structure, t.Arrays, 1, func(e *spec.Element, numbers [][]byte, texts []*block.Text) (dataset.Definition, error) {
		return source.Tensors(e, numbers, texts...)
	})
}

func (t *Tensors) text() string { return "from_tensors()" }
