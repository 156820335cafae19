package csvtext

import (
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/spec"
)

// Column says what a selected column becomes.
type Column struct {
	DType   spec.DType // int32, int64, float32, float64, or spec.Text
	Default []byte     // the text, or the number little-endian; nil if each row must have a value
}

// Values are those of one column: numbers little-endian in Data, or texts, where
// value i is Data[Starts[i]:Ends[i]].
type Values struct {
	Data         []byte
	Starts, Ends []int64
}

// Format says what is read from rows. It is immutable.
type Format struct {
	dialect Dialect
	delim   byte
	scan    scanner
	lines   scanner   // stops at delimiters no more
	ends    [256]bool // bytes behind a field: the delimiter, CR and LF
	columns []Column
	steps   []step
	spare   int  // so many more, where it is not any number
	wary    bool // the delimiter may be part of a number or of Dialect.Missing, or that of a number
	form    kernel.CSVForm
	inGo    bool // no row is left to the kernel
}

// step is what is done with one field of a row.
type step struct {
	op     op
	column int // index of the column it goes to
	size   int // of a number
}

type op = kernel.CSVOp

const (
	skip      = kernel.CSVSkip
	asInt32   = kernel.CSVInt32
	asInt64   = kernel.CSVInt64
	asFloat32 = kernel.CSVFloat32
	asFloat64 = kernel.CSVFloat64
	asText    = kernel.CSVText
)

var ops = map[spec.DType]op{
	{Kind: 'i', Size: 4}: asInt32, {Kind: 'i', Size: 8}: asInt64,
	{Kind: 'f', Size: 4}: asFloat32, {Kind: 'f', Size: 8}: asFloat64, spec.Text: asText,
}

// NewFormat returns a format with these columns. They are the fields of rows with
// the indices in selected, in rising order; if selected is nil, all there are.
func NewFormat(d Dialect, columns []Column, selected []int) (*Format, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	if len(columns) == 0 || selected != nil && len(selected) != len(columns) {
		return nil, errs.New(errs.InvalidArgument, "csv", "%d columns are described and %d selected; describe each selected column, one at least", len(columns), len(selected))
	}
	f := formatOf(d)
	f.columns = slices.Clone(columns)
	f.wary = numeric(f.delim) || d.Missing != "" && (numeric(d.Missing[0]) || strings.ContainsAny(d.Missing, "\"\r\n") || strings.IndexByte(d.Missing, f.delim) >= 0)
	for i, c := range columns {
		s := step{op: ops[c.DType], column: i, size: int(c.DType.Size)}
		if s.op == skip {
			return nil, errs.New(errs.InvalidArgument, "csv", "column %d cannot be %s; give int32, int64, float32, float64 or bytes", i, c.DType)
		}
		if c.Default != nil && s.op != asText && len(c.Default) != s.size {
			return nil, errs.New(errs.InvalidArgument, "csv", "the default of column %d has %d bytes; %s has %d", i, len(c.Default), c.DType, s.size)
		}
		for selected != nil && len(f.steps) < selected[i] && selected[i] <= maxField {
			f.steps = append(f.steps, step{op: skip})
		}
		if selected != nil && len(f.steps) != selected[i] {
			return nil, errs.New(errs.InvalidArgument, "csv", "the selected columns %v are not rising indices from 0 to %d", selected, maxField)
		}
		f.steps = append(f.steps, s)
	}
	prepare()
	f.inGo = f.wary
	f.form = kernel.CSVForm{Delim: f.delim, Plain: d.Plain, Open: selected != nil, Missing: d.Missing, Powers: powers[:]}
	return f, nil
}

// formatOf returns a format without columns.
func formatOf(d Dialect) *Format {
	f := &Format{dialect: d, delim: d.delim(), scan: newScanner(d.delim(), d.Plain), lines: newScanner('\n', d.Plain)}
	for _, c := range []byte{f.delim, '\n', '\r'} {
		f.ends[c] = true
	}
	return f
}

// maxField bounds the index of a selected column: rows have no more fields.
const maxField = 1 << 24

// numeric tells whether a number may have the byte in it.
func numeric(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c|0x20 == 'e'
}

// convert writes the value of a number's field, without what quotes were around it.
func convert(dst []byte, o op, text []byte) bool {
	switch o {
	case asInt32:
		v, ok := parseInt(text)
		if !ok || v != int64(int32(v)) {
			return false
		}
		binary.LittleEndian.PutUint32(dst, uint32(v))
	case asInt64:
		v, ok := parseInt(text)
		if !ok {
			return false
		}
		binary.LittleEndian.PutUint64(dst, uint64(v))
	case asFloat32:
		v, ok := parseFloat(text, 32)
		if !ok {
			return false
		}
		binary.LittleEndian.PutUint32(dst, math.Float32bits(float32(v)))
	case asFloat64:
		v, ok := parseFloat(text, 64)
		if !ok {
			return false
		}
		binary.LittleEndian.PutUint64(dst, math.Float64bits(v))
	}
	return true
}
