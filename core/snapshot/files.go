package snapshot

import (
	"sync"

	"infeed/core/errs"
	"infeed/core/vfs"
)

// mostOpen bounds the files that a snapshot holds open.
const mostOpen = 64

// files opens files by number and keeps the last ones open. Any number of goroutines
// may use it.
type files struct {
	fs    vfs.FS
	paths []string

	mu     sync.Mutex
	open   map[int]*openFile
	clock  int64
	closed bool
}

type openFile struct {
	vfs.File
	users int
	used  int64
	gone  bool // closed when the last user is done
}

// with calls f with file i open.
func (s *files) with(i int, f func(vfs.File) error) error {
	o, err := s.get(i)
	if err != nil {
		return err
	}
	defer s.put(o)
	return f(o.File)
}

func (s *files) get(i int) (*openFile, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	if o := s.open[i]; o != nil {
		o.users, o.used = o.users+1, s.clock
		return o, nil
	}
	if len(s.open) >= mostOpen {
		s.closeOldest()
	}
	f, err := s.fs.Open(s.paths[i])
	if errs.KindOf(err) == errs.NotFound {
		return nil, lost(s.paths[i], 0, gone)
	}
	if err != nil {
		return nil, err
	}
	o := &openFile{File: f, users: 1, used: s.clock, gone: s.closed}
	if s.open == nil {
		s.open = map[int]*openFile{}
	}
	if !s.closed {
		s.open[i] = o
	}
	return o, nil
}

func (s *files) put(o *openFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o.users--; o.users == 0 && o.gone {
		o.Close()
	}
}

func (s *files) closeOldest() {
	oldest := -1
	for i, o := range s.open {
		if oldest < 0 || o.used < s.open[oldest].used {
			oldest = i
		}
	}
	s.forget(oldest)
}

func (s *files) forget(i int) {
	o := s.open[i]
	delete(s.open, i)
	if o.gone = true; o.users == 0 {
		o.Close()
	}
}

// close closes all files; those in use when they are not any more. Files that are
// opened afterwards are closed after each use.
func (s *files) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for i := range s.open {
		s.forget(i)
	}
}

// reopen lets files stay open again.
func (s *files) reopen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = false
}
