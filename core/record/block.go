package record

import (
	"infeed/core/errs"
	"infeed/core/invariant"
	"infeed/core/kernel"
)

// Block is a run of records of one file: record i is Data[Starts[i]:Ends[i]]. Its
// memory is used again when the block is given to [Reader.Next] or [Index.Read]
// again.
type Block struct {
	Data         []byte
	Starts, Ends []int64
	// Token is where the block begins. Rows of it may have been left out.
	Token Token
	// Path is the file the records are from.
	Path string
	// Damage is what was left out since the block before, also where Next returns
	// io.EOF and no records.
	Damage Damage

	file   int   // the number of the file
	at     int64 // of Data[0] in the file
	policy Policy
	before int64 // bytes of a record before its payload
	check  bool  // the payloads are still to be checked
	packed bool  // the file is compressed
}

// Len returns how many records there are.
func (b *Block) Len() int { return len(b.Starts) }

// Record returns record i, in the block's memory.
func (b *Block) Record(i int) []byte { return b.Data[b.Starts[i]:b.Ends[i]:b.Ends[i]] }

// Verify checks the payloads that a reader with Options.Deferred left unchecked. It
// may run on any goroutine. Bad records are left out, or with the policy Raise the
// block ends before the first of them and Verify returns its error.
func (b *Block) Verify() error {
	kept, from := 0, 0
	for {
		i, bad := b.Bad(from)
		n := copy(b.Starts[kept:], b.Starts[from:i])
		copy(b.Ends[kept:], b.Ends[from:i])
		kept, from = kept+n, i+1
		if bad == nil || b.policy == Raise {
			b.Starts, b.Ends, b.check = b.Starts[:kept], b.Ends[:kept], false
			return bad
		}
		b.Damage.add(bad)
	}
}

// Bad is Verify for those who want all good records: it returns the first record
// from record i on that is bad, and its error, or Len() and nil. The block stays as
// it is.
func (b *Block) Bad(i int) (int, error) {
	if i >= b.Len() || !b.check {
		return b.Len(), nil
	}
	if i += kernel.Corrupt(b.Data, b.Starts[i:], b.Ends[i:]); i == b.Len() {
		return i, nil
	}
	return i, (&fault{offset: b.Offset(i), text: badPayload}).in(b.Path, b.packed)
}

// Offset returns where record i begins in what its file holds.
func (b *Block) Offset(i int) int64 { return b.at + b.Starts[i] - b.before }

// Place returns the token of record i: reading from there gives it and those after it.
func (b *Block) Place(i int) Token { return Token{b.file, b.Offset(i)} }

// reset empties a block for records from a token on.
func (b *Block) reset() {
	invariant.Scribble(b.Data)
	*b = Block{Data: b.Data[:0], Starts: b.Starts[:0], Ends: b.Ends[:0]}
}

// room returns memory for n bytes of which the first are Data. Where it has to grow,
// it does so for the sizes to come.
func (b *Block) room(n, ahead int) []byte {
	if cap(b.Data) < n {
		// Beyond a few pages, Go aligns memory to them; reads into memory that is
		// not aligned to 32 bytes are several times slower.
		grown := make([]byte, len(b.Data), max(n, ahead, 64<<10))
		copy(grown, b.Data)
		b.Data = grown
	}
	return b.Data[:n]
}

// fault is damage at a place of a file.
type fault struct {
	offset int64
	text   string
	next   int64 // where the record after it begins; 0 when that is not known
	ends   bool  // nothing can follow it
	cause  error // an error of the file or its compression
}

// in returns the error of damage in a file; packed tells that the file is compressed.
func (f *fault) in(path string, packed bool) error {
	if f.cause != nil {
		return f.cause
	}
	text := f.text
	if packed {
		text += " (the byte is one of the decompressed content)"
	}
	return &errs.Error{Op: "record", Kind: errs.DataLoss, Path: path, Offset: f.offset, Text: text}
}
