package record

import "infeed/core/vfs"

// Behind returns where reading of uncompressed files stands behind up to n records, and
// how many of them it knows to be before that without reading: none where the format
// does not tell. It stops at a file that reading is to look at: one that is not there,
// does not fit, or is empty, as files that are no plain files seem to be.
func Behind(fs vfs.FS, paths []string, format Format, n int64) (at Token, skipped int64) {
	for ; at.File < len(paths); at.File++ {
		info, err := fs.Stat(paths[at.File])
		if err != nil || info.Dir || info.Size == 0 || format.fits(info.Size) != nil {
			return at, skipped
		}
		first, stride, count, known := format.layout(info.Size)
		if !known || skipped == n {
			return at, skipped
		}
		if n-skipped < count {
			at.Offset = first + (n-skipped)*stride
			return at, n
		}
		skipped += count
	}
	return at, skipped
}
