package tfproto

import (
	"encoding/binary"
	"math"

	"infeed/core/errs"
)

// Messages for tests, in the wire form of protocol buffers.

func field(n int, payload ...byte) []byte {
	out := binary.AppendUvarint(nil, uint64(n<<3|wireBytes))
	out = binary.AppendUvarint(out, uint64(len(payload)))
	return append(out, payload...)
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

func packedFloats(v ...float32) (out []byte) {
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func packedInts(v ...int64) (out []byte) {
	for _, x := range v {
		out = binary.AppendUvarint(out, uint64(x))
	}
	return out
}

// Features.
func floats(v ...float32) []byte { return field(2, field(1, packedFloats(v...)...)...) }
func ints(v ...int64) []byte     { return field(3, field(1, packedInts(v...)...)...) }

func texts(v ...string) []byte {
	var list []byte
	for _, s := range v {
		list = append(list, field(1, []byte(s)...)...)
	}
	return field(1, list...)
}

// kv is an entry of a map.
func kv(key string, value []byte) []byte {
	return field(1, join(field(1, []byte(key)...), field(2, value...))...)
}

func example(entries ...[]byte) []byte { return field(1, join(entries...)...) }

func steps(features ...[]byte) (out []byte) {
	for _, f := range features {
		out = append(out, field(1, f...)...)
	}
	return out
}

func sequence(context []byte, lists ...[]byte) []byte {
	return join(field(1, context...), field(2, join(lists...)...))
}

func serialized(messages ...[]byte) (in Serialized) {
	for _, m := range messages {
		in.Data = append(in.Data, "between"...)
		in.Starts = append(in.Starts, int64(len(in.Data)))
		in.Data = append(in.Data, m...)
		in.Ends = append(in.Ends, int64(len(in.Data)))
	}
	return in
}

// values returns what a column holds, as Go values.
func (c *Column) values(t Type) []any {
	out := []any{}
	for i := range int(c.Count(t)) {
		switch t {
		case Float:
			out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(c.Values[4*i:])))
		case Int64:
			out = append(out, int64(binary.LittleEndian.Uint64(c.Values[8*i:])))
		case Bytes:
			out = append(out, string(c.Text(i)))
		}
	}
	return out
}

func column(t Type, values ...any) *Column {
	c := &Column{}
	if t == Bytes {
		c.Offsets = []int64{0}
	}
	for _, v := range values {
		switch v := v.(type) {
		case float64:
			c.Values = append(c.Values, packedFloats(float32(v))...)
		case int:
			c.Values = binary.LittleEndian.AppendUint64(c.Values, uint64(v))
		case string:
			c.appendPacked(Bytes, []byte(v))
		}
	}
	return c
}

func isInvalid(err error) bool { return errs.KindOf(err) == errs.InvalidArgument }
