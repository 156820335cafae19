package vfs

// headBytes is more than the system's own files have, such as those of processes.
const headBytes = 4096

// Head returns what a short file has, or the first few kilobytes of one that is longer;
// nothing where there is none.
func Head(fs FS, path string) []byte {
	f, err := fs.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	b := make([]byte, headBytes)
	n, _ := f.ReadAt(b, 0)
	return b[:n]
}
