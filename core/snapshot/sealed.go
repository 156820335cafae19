package snapshot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"

	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/vfs"
)

// A sealed line is a JSON object whose last member is the checksum of what is before.
const (
	sealStart = `,"crc32c":"`
	sealBytes = len(sealStart) + 8 + len(`"}`) + 1 // and the end of the line
	mostLine  = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(b []byte) uint32 { return kernel.Checksum(b) }

// seal returns the line of a value that is an object with members.
func seal(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, "snapshot", "it cannot be described")
	}
	if len(b) > mostLine-sealBytes {
		return nil, errs.New(errs.ResourceExhausted, "snapshot", "its description has %d bytes; %d are the most", len(b), mostLine)
	}
	b = b[:len(b)-1]
	return append(b, sealOf(b)...), nil
}

// sealOf returns the end of a line that begins with b.
func sealOf(b []byte) []byte { return fmt.Appendf(nil, `%s%08x"}`+"\n", sealStart, checksum(b)) }

// unseal reads a line into v; what is not exactly what seal wrote is an error.
func unseal(line []byte, v any) error {
	n := len(line) - sealBytes
	if n < 1 || !bytes.Equal(line[n:], sealOf(line[:n])) {
		return errs.New(errs.DataLoss, "snapshot", "a line is not whole")
	}
	if err := json.Unmarshal(append(line[:n:n], '}'), v); err != nil {
		return errs.Wrap(err, errs.DataLoss, "snapshot", "a line cannot be understood")
	}
	return nil
}

// readFile returns what a small file holds.
func readFile(fs vfs.FS, path string) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size > mostLine {
		return nil, lost(path, 0, "it has %d bytes; %d are the most", info.Size, mostLine)
	}
	b := make([]byte, info.Size)
	n, err := f.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	return b[:n], nil
}

// writeFile makes a file that survives a loss of power once its folder was synced.
func writeFile(fs vfs.FS, path string, data []byte) error {
	f, err := fs.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}

// lost is the error of a damaged file.
func lost(path string, offset int64, format string, args ...any) error {
	return &errs.Error{Op: "snapshot", Kind: errs.DataLoss, Path: path, Offset: offset, Text: fmt.Sprintf(format, args...)}
}

// extend returns the checksum of what sum is of and b behind it.
func extend(sum uint32, b []byte) uint32 { return crc32.Update(sum, castagnoli, b) }
