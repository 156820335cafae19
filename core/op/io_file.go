package op

import (
	"io"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// read_file gives the content of the file whose path the operand is.
func init() { binders["read_file"] = bindReadFile }

type readFile struct{}

func bindReadFile(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 1 || !in[0].IsText() || len(in[0].Shape) > 0 {
		return nil, n.refuse(in)
	}
	return &binding{function: readFile{}, out: []spec.Component{{DType: spec.Text}}}, nil
}

func (readFile) run(c *call) (int64, error) {
	o := &c.in[0]
	out, err := c.make(0, spec.Text)
	if err != nil {
		return 0, err
	}
	for i := range c.rows {
		_, at := o.texts(i)
		from := int64(len(out.Text.Data))
		out.Text.Data, err = appendFile(out.Text.Data, c.scope, string(o.Text.At(at)))
		if err != nil {
			return i, err
		}
		out.Text.Starts, out.Text.Ends = append(out.Text.Starts, from), append(out.Text.Ends, int64(len(out.Text.Data)))
	}
	return c.rows, nil
}

// maxUnsized bounds what is read of a file that says it has no bytes, as those of
// /proc do; devices may have no end.
const maxUnsized = 64 << 20

// maxChunk bounds what is read at once: sizes of files can be wrong.
const maxChunk int64 = 64 << 20

// appendFile appends what is in a file; with an error, nothing.
func appendFile(dst []byte, s *dataset.Scope, path string) ([]byte, error) {
	f, err := s.FS.Open(path)
	if err != nil {
		return dst, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return dst, err
	}
	before, chunk := len(dst), min(max(info.Size, 512)+1, maxChunk)
	for at := int64(0); ; {
		if s.Err() != nil {
			return dst[:before], s.Err()
		}
		dst = append(dst, make([]byte, chunk)...)
		n, err := f.ReadAt(dst[len(dst)-int(chunk):], at)
		at += int64(n)
		dst = dst[:before+int(at)]
		if err == io.EOF {
			return dst, nil
		}
		if err == nil && info.Size == 0 && at > maxUnsized {
			err = errs.New(errs.ResourceExhausted, "read_file", "%q has no size and more than %d bytes; it is no file that can be read whole", path, int64(maxUnsized))
		}
		if err != nil {
			return dst[:before], err
		}
		chunk = min(max(at, 512), maxChunk)
	}
}
