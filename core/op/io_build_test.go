package op

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/spec"
	"infeed/core/vfs/memfs"
)

// What tests of the operations of tf.io are made of: messages in the wire form of
// protocol buffers, and blocks of text.

func field(n int, parts ...[]byte) []byte {
	var payload []byte
	for _, p := range parts {
		payload = append(payload, p...)
	}
	out := binary.AppendUvarint(nil, uint64(n<<3|2))
	return append(binary.AppendUvarint(out, uint64(len(payload))), payload...)
}

func bytesFeature(v ...string) []byte {
	var list []byte
	for _, s := range v {
		list = append(list, field(1, []byte(s))...)
	}
	return field(1, list)
}

func floatFeature(v ...float32) []byte {
	var packed []byte
	for _, x := range v {
		packed = binary.LittleEndian.AppendUint32(packed, math.Float32bits(x))
	}
	return field(2, field(1, packed))
}

func intFeature(v ...int64) []byte {
	var packed []byte
	for _, x := range v {
		packed = binary.AppendUvarint(packed, uint64(x))
	}
	return field(3, field(1, packed))
}

func entry(key string, value []byte) []byte { return field(1, field(1, []byte(key)), field(2, value)) }

func example(entries ...[]byte) string { return string(field(1, entries...)) }

// steps is a tf.train.FeatureList.
func steps(features ...[]byte) []byte {
	var out []byte
	for _, f := range features {
		out = append(out, field(1, f)...)
	}
	return out
}

func sequence(context [][]byte, lists ...[]byte) string {
	return string(field(1, context...)) + string(field(2, lists...))
}

// textBlock is a block whose elements are texts of a shape.
func textBlock(shape []int64, texts ...string) block.Block {
	c := spec.Component{DType: spec.Text, Shape: shape}
	b := block.Block{Rows: int64(len(texts)) / max(c.Count(), 1), Shapes: &spec.Element{Components: []spec.Component{c}}}
	t := &block.Text{}
	for _, s := range texts {
		t.Append([]byte(s))
	}
	b.Columns = []block.Column{{Text: t}}
	return b
}

// call1 is a program that is one operation on all components of elements.
func call1(t testing.TB, in *spec.Element, op, attrs string) dataset.Program {
	t.Helper()
	n := attrNode(op, attrs)
	for i := range in.Components {
		n.In = append(n.In, i)
	}
	bound, err := binders[op](n, in.Components)
	require.NoError(t, err)
	var outputs []int
	for i := range bound.out {
		outputs = append(outputs, len(in.Components)+i)
	}
	return parse(t, in, outputs, n)
}

// refused is the error of an operation that cannot be bound.
func refused(t *testing.T, in *spec.Element, op, attrs string) error {
	t.Helper()
	n := attrNode(op, attrs)
	for i := range in.Components {
		n.In = append(n.In, i)
	}
	_, err := binders[op](n, in.Components)
	require.Error(t, err)
	return err
}

// results runs a program, and returns each element's components as text, the rows of
// the blocks that were made, and the error.
func results(t testing.TB, p dataset.Program, b block.Block) (elements []string, blocks []int64, err error) {
	t.Helper()
	scope := dataset.NewScope(memfs.New(), 0)
	defer scope.Close()
	var before, out block.Buffer
	_, _ = p.Run(scope, b.Slice(b.Rows-1, b.Rows), dataset.Chance{}, &before) // leaves memory that is used again
	done, err := p.Run(scope, b, dataset.Chance{}, &out)
	for _, o := range out.Blocks() {
		blocks = append(blocks, o.Rows)
		for i := range o.Rows {
			elements = append(elements, row(o.Slice(i, i+1)))
		}
	}
	require.GreaterOrEqual(t, int64(len(elements)), done)
	return elements[:done], blocks, err
}

// row writes the components of a block of one row: shape and values.
func row(b block.Block) (text string) {
	for i, c := range b.Columns {
		component := b.Shapes.Components[i]
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(component.Shape)
		if c.Text != nil {
			var all []string
			for k := range c.Text.Len() {
				all = append(all, string(c.Text.At(k)))
			}
			text += fmt.Sprintf("%q", all)
			continue
		}
		switch component.DType {
		case float32s:
			text += fmt.Sprint(view[float32](c.Data))
		case int64s:
			text += fmt.Sprint(view[int64](c.Data))
		case int32s:
			text += fmt.Sprint(view[int32](c.Data))
		default:
			text += fmt.Sprint(c.Data)
		}
	}
	return text
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
