package snapshot

import (
	"encoding/binary"
	"io"
	"sort"
	"sync"

	"github.com/klauspost/compress/s2"

	"infeed/core/codec"
	"infeed/core/kernel"
	"infeed/core/vfs"
)

// tfFS shows files of TensorFlow's Snappy blocks as what they hold; other files as they
// are. A block is its stored size, 4 bytes big-endian, and Snappy data. A file that looks
// like something else than it was said to be is an error.
type tfFS struct {
	vfs.FS
	said    Compression // Auto: nothing was said
	version int64
}

// Open implements vfs.FS.
func (s tfFS) Open(path string) (vfs.File, error) {
	f, err := s.FS.Open(path)
	if err != nil {
		return nil, err
	}
	looks, err := looksTF(f, s.version)
	switch {
	case err != nil:
	case looks != "" && s.said != Auto && looks != s.said.String():
		err = lost(path, 0, "it looks like %s, and compression says %v; leave it out", looks, s.said)
	case looks == Snappy.String() && s.version != 1: // in version 1 records are compressed
		u := &unsnapped{File: f, path: path, held: -1}
		if err = u.scan(); err == nil {
			return u, nil
		}
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}

// tfLooks tells how a file looks to be compressed: NONE, GZIP, ZLIB, SNAPPY, or nothing.
func tfLooks(fs vfs.FS, path string, version int64) (string, error) {
	f, err := fs.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return looksTF(f, version)
}

func looksTF(f vfs.File, version int64) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	head := make([]byte, min(info.Size, 4096))
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return "", err
	}
	head = head[:n]
	if version < 2 && plainLegacy(head) {
		if version == 1 && packedLegacy(head) {
			return Snappy.String(), nil
		}
		return None.String(), nil
	}
	if version == 2 && n >= 12 && kernel.Masked(head[:8]) == le.Uint32(head[8:]) {
		return None.String(), nil
	}
	if kind := codec.Detect(head); kind != codec.None {
		return kind.String(), nil
	}
	if version != 1 && isSnappy(head, info.Size) {
		return Snappy.String(), nil
	}
	return "", nil
}

// isSnappy tells whether a file begins with a block of Snappy data. A record begins
// with its size in 8 bytes, little-endian, so that zeros follow where Snappy has none.
func isSnappy(head []byte, size int64) bool {
	if len(head) < 12 {
		return false
	}
	stored := int64(binary.BigEndian.Uint32(head))
	raw, n := binary.Uvarint(head[4:])
	return stored > 0 && stored <= size-4 && n > 0 && raw >= 8 && raw <= 1<<31
}

// unsnapped is a file of Snappy blocks as what they hold.
type unsnapped struct {
	vfs.File
	path    string
	starts  []int64 // of the blocks in the file, behind their sizes; one more: the end
	offsets []int64 // of them in what they hold; one more: its size

	mu    sync.Mutex
	held  int // the block in data
	data  []byte
	store []byte
}

// scan finds the blocks.
func (u *unsnapped) scan() error {
	info, err := u.File.Stat()
	if err != nil {
		return err
	}
	u.offsets = []int64{0}
	head := make([]byte, 4+binary.MaxVarintLen32)
	for at := int64(0); at < info.Size; {
		n, err := u.File.ReadAt(head, at)
		if err != nil && err != io.EOF {
			return err
		}
		size := int64(binary.BigEndian.Uint32(head))
		raw, digits := binary.Uvarint(head[min(4, n):n])
		if n < 5 || digits <= 0 || size > info.Size-at-4 || raw > 1<<31 {
			return lost(u.path, at, "a block of Snappy data is cut or corrupt")
		}
		u.starts = append(u.starts, at+4)
		u.offsets = append(u.offsets, u.offsets[len(u.offsets)-1]+int64(raw))
		at += 4 + size
	}
	u.starts = append(u.starts, info.Size+4)
	return nil
}

// Stat implements vfs.File.
func (u *unsnapped) Stat() (vfs.Info, error) {
	info, err := u.File.Stat()
	info.Size = u.offsets[len(u.offsets)-1]
	return info, err
}

// ReadAt implements vfs.File.
func (u *unsnapped) ReadAt(p []byte, off int64) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	done := 0
	for done < len(p) {
		i := sort.Search(len(u.starts)-1, func(i int) bool { return u.offsets[i+1] > off })
		if i == len(u.starts)-1 {
			return done, io.EOF
		}
		if err := u.hold(i); err != nil {
			return done, err
		}
		n := copy(p[done:], u.data[off-u.offsets[i]:])
		done, off = done+n, off+int64(n)
	}
	return done, nil
}

// hold decompresses block i.
func (u *unsnapped) hold(i int) error {
	if u.held == i {
		return nil
	}
	u.held = -1
	size := u.starts[i+1] - 4 - u.starts[i]
	if int64(cap(u.store)) < size {
		u.store = make([]byte, size)
	}
	if err := readFull(u.File, u.path, u.store[:size], u.starts[i]); err != nil {
		return err
	}
	raw := u.offsets[i+1] - u.offsets[i]
	if uint64(raw) > mostSnapped(int(size)) { // Snappy does not compress so much
		return lost(u.path, u.starts[i], "a block of Snappy data of %d bytes claims %d", size, raw)
	}
	data, err := s2.Decode(u.data[:cap(u.data)], u.store[:size])
	if err != nil || int64(len(data)) != raw {
		return lost(u.path, u.starts[i], "a block of Snappy data is corrupt: %v", err)
	}
	u.data, u.held = data, i
	return nil
}
