package codec

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"infeed/core/errs"
)

// bufferBytes is how much compressed data is asked for at a time.
const bufferBytes = 128 << 10

// maxWindow is the largest window of zstd that is accepted: the largest that the
// zstd program makes without being asked to go beyond.
const maxWindow = 128 << 20

// Reader is an io.Reader of what a compressed stream holds. It is for one goroutine
// at a time, and must be closed.
type Reader struct {
	kind   Kind
	path   string
	count  *counter
	source *bufio.Reader
	member io.Reader    // decompresses the current member; nil between members
	next   func() error // makes the decompressor of the next member
	later  bool         // a member was begun before
	close  func()
	err    error
}

// counter counts the bytes that came out of a reader.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// NewReader returns a reader of src, which messages call path. Closing it does not
// close src.
func NewReader(src io.Reader, path string, kind Kind) (*Reader, error) {
	r := &Reader{kind: kind, path: path, count: &counter{Reader: src}, close: func() {}}
	r.source = bufio.NewReaderSize(r.count, bufferBytes)
	head, err := r.source.Peek(headBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	found := Detect(head)
	if kind == Auto {
		r.kind = found
	} else if kind != None && found != kind && len(head) > 0 && !(kind == Zlib && zlibHeader(head)) {
		return nil, r.otherKind(head, found)
	}
	r.start()
	return r, nil
}

// otherKind is the error of a stream that is not of the kind it was said to be.
func (r *Reader) otherKind(head []byte, found Kind) error {
	advice := ""
	if found != None {
		advice = `; give compression_type="` + found.String() + `" or "AUTO"`
	}
	return r.loss(nil, "this is not "+r.kind.String()+" but looks like "+Describe(head)+advice)
}

// start sets how members are decompressed.
func (r *Reader) start() {
	switch r.kind {
	case None:
		r.next = func() error { r.member = r.source; return nil }
	case Gzip:
		z := new(gzip.Reader)
		r.next = func() error {
			err := z.Reset(r.source)
			z.Multistream(false)
			r.member = z
			return err
		}
	case Zlib:
		var z io.ReadCloser
		r.next = func() (err error) {
			if z == nil {
				z, err = zlib.NewReader(r.source)
			} else {
				err = z.(zlib.Resetter).Reset(r.source, nil)
			}
			r.member = z
			return err
		}
	case Zstd:
		r.next = func() error {
			z, err := zstd.NewReader(r.source, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
			if err != nil {
				return err
			}
			r.member, r.close = z, z.Close
			return nil
		}
	}
}

// Kind returns how the stream is compressed: what was found where Auto was given.
func (r *Reader) Kind() Kind { return r.kind }

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (int, error) {
	for r.err == nil {
		if r.member == nil {
			if r.err = r.begin(); r.err != nil {
				break
			}
		}
		n, err := r.member.Read(p)
		if err == io.EOF {
			r.member, err = nil, nil
			if r.kind == None || r.kind == Zstd { // these read to the end of src
				r.err = io.EOF
			}
		}
		if err != nil {
			r.err = r.explain(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, r.err
}

// begin opens the next member; io.EOF when there is none.
func (r *Reader) begin() error {
	c, err := r.source.ReadByte()
	for err == nil && c == 0 && r.kind != None && r.later {
		c, err = r.source.ReadByte()
	}
	if err != nil {
		return err
	}
	r.source.UnreadByte()
	if r.later && r.kind != None {
		head, _ := r.source.Peek(headBytes)
		if !begins(r.kind, head[0]) {
			return r.loss(nil, "a "+r.kind.String()+" stream ends here, and what follows looks like "+Describe(head))
		}
	}
	r.later = true
	return r.explain(r.next())
}

// explain gives the error of a decompressor a kind and a place. An error that has a
// kind came out of the file and stays.
func (r *Reader) explain(err error) error {
	var known *errs.Error
	switch {
	case err == nil || errors.As(err, &known):
		return err
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return r.loss(nil, "the file ends before its "+r.kind.String()+" stream does; it was cut or is still being written")
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return errs.Wrap(err, errs.ResourceExhausted, "decompress", "%s needs a window of more than %d MiB", r.path, maxWindow>>20)
	}
	return r.loss(err, "the "+r.kind.String()+" stream is corrupt")
}

func (r *Reader) loss(cause error, text string) error {
	return &errs.Error{Op: "decompress", Kind: errs.DataLoss, Path: r.path, Offset: r.offset(), Text: text, Err: cause}
}

// offset is how much of the compressed stream was used.
func (r *Reader) offset() int64 { return r.count.n - int64(r.source.Buffered()) }

// Close frees what the reader holds.
func (r *Reader) Close() {
	r.close()
	r.member, r.err = nil, errs.New(errs.Internal, "decompress", "read after close")
}
