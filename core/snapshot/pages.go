package snapshot

import "infeed/core/vfs"

const (
	// pageBytes is how much of an uncompressed piece has one checksum. An element that is
	// read alone costs the pages that it touches: the smaller they are the less.
	pageBytes = 16 << 10
	// onceBytes are read before they are checked, so that they are still in the cache of
	// the processor.
	onceBytes = 256 << 10
	// aroundBytes is up to how much is read at once to be checked and copied, where not
	// whole pages are wanted.
	aroundBytes = 128 << 10
)

// read copies bytes of an uncompressed piece. Pages are checked when they are read
// first, for which all of a page is read.
func (p *piece) read(f vfs.File, path string, from int64, dst []byte) error {
	to := from + int64(len(dst))
	begin, end := p.reach(from, to)
	switch {
	case begin == from && end == to:
		return p.into(f, path, from, dst)
	case end-begin <= aroundBytes:
		return p.around(f, path, from, dst, begin, end)
	}
	if begin < from {
		first := begin + pageBytes
		if err := p.around(f, path, from, dst[:first-from], begin, first); err != nil {
			return err
		}
		from, dst = first, dst[first-from:]
	}
	if end > to {
		last := pageOf(to-1) * pageBytes
		if err := p.around(f, path, last, dst[last-from:], last, end); err != nil {
			return err
		}
		dst = dst[:last-from]
	}
	return p.into(f, path, from, dst)
}

func pageOf(at int64) int64 { return at / pageBytes }

// pageEnd returns where a page ends in its piece. The zeros behind the last one are not
// counted.
func (p *piece) pageEnd(page int64) int64 { return min((page+1)*pageBytes, p.raw) }

// reach returns from where to where a piece has to be read for all pages of a range to
// be checked.
func (p *piece) reach(from, to int64) (begin, end int64) {
	if first := pageOf(from); !p.checked(first) {
		from = first * pageBytes
	}
	if last := pageOf(to - 1); !p.checked(last) {
		to = p.pageEnd(last)
	}
	return from, to
}

// into reads a range in its place.
func (p *piece) into(f vfs.File, path string, from int64, dst []byte) error {
	for len(dst) > 0 {
		n := min(pageOf(from)*pageBytes+onceBytes-from, int64(len(dst)))
		if err := readFull(f, path, dst[:n], p.at+from); err != nil {
			return err
		}
		if err := p.check(path, from, dst[:n]); err != nil {
			return err
		}
		from, dst = from+n, dst[n:]
	}
	return nil
}

// around reads a range that is wanted from a larger one.
func (p *piece) around(f vfs.File, path string, from int64, dst []byte, begin, end int64) error {
	scratch := borrow(end - begin)
	defer giveBack(scratch)
	if err := readFull(f, path, *scratch, p.at+begin); err != nil {
		return err
	}
	if err := p.check(path, begin, *scratch); err != nil {
		return err
	}
	copy(dst, (*scratch)[from-begin:])
	return nil
}

// checked tells whether the checksum of a page was right.
func (p *piece) checked(page int64) bool { return p.seen[page/64].Load()>>(page%64)&1 != 0 }

// check compares the checksums of the pages of data, which begins at a place of the
// piece. Those that were not checked before are there as a whole.
func (p *piece) check(path string, at int64, data []byte) error {
	for page := pageOf(at); page <= pageOf(at+int64(len(data))-1); page++ {
		if p.checked(page) {
			continue
		}
		all := data[page*pageBytes-at : p.pageEnd(page)-at]
		sum := checksum(all)
		if page == p.pages()-1 {
			sum = extend(sum, zeros[:p.bytes()-p.stored])
		}
		if sum != p.sums[page] {
			return lost(path, p.at+page*pageBytes, "%d bytes are damaged", len(all))
		}
		p.seen[page/64].Or(1 << (page % 64))
	}
	return nil
}
