package feed

import (
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	"infeed/core/arena"
	"infeed/core/errs"
	"infeed/core/par"
)

// ProcessOptions say how worker processes are started. The descriptors are
// duplicated.
type ProcessOptions struct {
	Argv      [][]byte `json:"argv"` // bytes, as names of files need not be UTF-8
	Env       [][]byte `json:"env"`
	Dir       []byte   `json:"dir"` // empty: the same
	Stdio     [3]int   `json:"stdio"`
	Init      int      `json:"init"` // start parameters, for the worker alone to read
	InitBytes uint64   `json:"init_bytes"`
}

// Payload is data that workers need, behind a descriptor.
type Payload struct {
	ID    uint64
	File  *os.File // owned by the pool from now on
	Bytes uint64
}

const (
	maxAttempts    = 3 // workers that one batch may cost
	maxStartDeaths = 3 // workers in a row that may end before they are ready
	fastJob        = 300 * time.Microsecond
	hour           = time.Hour
)

// processes is the part of a pool that has worker processes; the pool's lock
// guards it. The thread that starts them lives as long as they do, since their
// parent-death signal is tied to it.
type processes struct {
	pool    *Pool
	opt     ProcessOptions
	stdio   [3]*os.File
	init    *os.File
	spawn   chan int
	readers *par.Group

	workers     []*worker // by number; nil while being started
	startDeaths int
	stopping    bool
	grace       time.Duration

	version  int64 // of the dataset; 0 none yet
	dataset  uint64
	payloads []Payload

	blocked bool          // jobs wait for room in a queue
	kick    chan struct{} // has dispatchAll look again

	slotSize int64 // 0: not known yet
	segments []*arena.Segment
	retired  []*arena.Segment
}

func startProcesses(p *Pool) *processes {
	ps := &processes{pool: p, opt: *p.opt.Process, workers: make([]*worker, p.opt.Workers),
		spawn: make(chan int, p.opt.Workers),
		kick:  make(chan struct{}, 1), readers: par.NewGroup(p.group.OnPanic)}
	for i, fd := range ps.opt.Stdio {
		ps.stdio[i] = Duplicate(fd)
	}
	ps.init = Duplicate(ps.opt.Init)
	p.group.Pinned(func() {
		for n := range ps.spawn {
			ps.start(n)
		}
		ps.readers.Wait() // a worker would be killed if its starter's thread ended
	})
	p.group.Go(ps.dispatchAll)
	for n := range p.opt.Workers {
		ps.spawn <- n
	}
	return ps
}

// Duplicate returns a file for the same descriptor; nil when there can be no more.
func Duplicate(fd int) *os.File {
	n, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_DUPFD_CLOEXEC, 0)
	if e != 0 {
		return nil
	}
	return os.NewFile(n, "infeed-duplicate")
}

// SetDataset gives every worker, those of the future included, the dataset that
// lies in one of the payloads. Payloads that are not listed are given up.
func (p *Pool) SetDataset(version int64, dataset uint64, payloads []Payload) error {
	ps := p.processes
	if ps == nil {
		return errs.New(errs.InvalidArgument, "dataset", "this pool has no processes")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	old := ps.payloads
	ps.version, ps.dataset, ps.payloads = version, dataset, payloads
	for _, w := range ps.workers {
		if w != nil {
			w.sendDataset(ps)
		}
	}
	for _, o := range old {
		if !slices.ContainsFunc(payloads, func(n Payload) bool { return n.ID == o.ID }) {
			o.File.Close()
		}
	}
	p.wake()
	return nil
}

// Payload returns a payload that the pool has; the File is the pool's.
func (p *Pool) Payload(id uint64) (Payload, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range p.processes.payloads {
		if o.ID == id {
			return o, true
		}
	}
	return Payload{}, false
}

// start runs on the pinned thread.
func (ps *processes) start(n int) {
	p := ps.pool
	p.mu.Lock()
	stopping := ps.stopping
	p.mu.Unlock()
	if stopping {
		return
	}
	w, err := startWorker(n, ps)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.fail(&WorkerFailure{Exit: ExitUnknown, Text: fmt.Sprintf(
			"worker process %d could not be started: %v; the command was %q", n, err, ps.opt.Argv)})
		return
	}
	ps.workers[n] = w
	w.sendDataset(ps)
	if ps.stopping {
		w.socket.file.Close()
	}
	ps.readers.Go(func() { ps.listen(w) })
}

// dispatchAll hands out jobs whenever something changed. What the consumer does is a
// change only while jobs are blocked: else its every batch would wake this thread.
func (ps *processes) dispatchAll() {
	p := ps.pool
	for {
		key := p.Work.Key()
		p.mu.Lock()
		stop := p.closed
		if !stop {
			ps.dispatch()
		}
		blocked := ps.blocked
		p.mu.Unlock()
		switch {
		case stop:
			return
		case blocked:
			p.Work.Wait(key, hour)
		default:
			<-ps.kick
		}
	}
}

// again has dispatchAll look again.
func (ps *processes) again() {
	select {
	case ps.kick <- struct{}{}:
	default: // it will, already
	}
}

// dispatch gives jobs to workers until there are no more of one of them. The pool
// is locked.
func (ps *processes) dispatch() {
	ps.dropRetired()
	ps.blocked = false
	for {
		w := ps.idlest()
		if w == nil {
			return
		}
		j := ps.pool.nextJob()
		if j == nil {
			ps.blocked = true
			return
		}
		j.slot, j.worker = ps.slot(w), w.number
		w.give(j)
	}
}

// idlest returns the worker with the fewest jobs that can take one more. A second
// job is given ahead only where jobs are so short that the wait for it would show.
func (ps *processes) idlest() *worker {
	var best *worker
	for _, w := range ps.workers {
		if w == nil || !w.ready {
			continue
		}
		depth := 1
		if ps.slotSize > 0 && w.mean > 0 && w.mean < fastJob {
			depth = 2
		}
		if len(w.jobs) < depth && (best == nil || len(w.jobs) < len(best.jobs)) {
			best = w
		}
	}
	return best
}

// slot returns where a worker is to write its next batch. The zero Slot means memory
// of the batch's own: while nobody knows how large batches are, or where more are lent
// than ever should be. A worker writes to the slots it wrote to before, which its
// core's caches and page translations know: four times as fast.
func (ps *processes) slot(w *worker) arena.Slot {
	if ps.slotSize == 0 {
		return arena.Slot{}
	}
	for _, r := range w.recent {
		if slot, ok := r.segment.TryAcquireAt(r.index); ok {
			return slot
		}
	}
	total := 0
	for _, s := range ps.segments {
		if slot, ok := s.TryAcquire(); ok {
			return slot
		}
		total += s.Slots()
	}
	window := max(ps.pool.opt.Queue, ps.pool.opt.Workers)
	if total >= window*(len(ps.pool.walks)+2)+2*ps.pool.opt.Workers+2 {
		return arena.Slot{}
	}
	slots := 4
	if ps.slotSize < 1<<20 {
		slots = 16
	}
	s, err := arena.NewSegment(slots, ps.slotSize, nil)
	if err != nil {
		return arena.Slot{}
	}
	ps.segments = append(ps.segments, s)
	slot, _ := s.TryAcquire()
	return slot
}

// fit makes later slots large enough for batches of so many bytes.
func (ps *processes) fit(bytes int64) {
	unit := int64(64 << 10)
	if bytes > 1<<20 {
		unit = 2 << 20
	}
	size := (bytes + bytes/16 + unit - 1) / unit * unit
	if size <= ps.slotSize {
		return
	}
	ps.slotSize = size
	ps.retired = append(ps.retired, ps.segments...)
	ps.segments = nil
	for _, w := range ps.workers {
		if w != nil {
			w.recent = nil
		}
	}
}

func (ps *processes) dropRetired() {
	ps.retired = slices.DeleteFunc(ps.retired, func(s *arena.Segment) bool {
		if !s.Idle() {
			return false
		}
		for _, w := range ps.workers {
			if w != nil {
				w.forgetSegment(s)
			}
		}
		s.Close()
		return true
	})
}

func (ps *processes) pid(n int) int {
	if n < 0 || n >= len(ps.workers) || ps.workers[n] == nil {
		return 0
	}
	return ps.workers[n].process.Pid
}

// stop makes all workers end; the pool's group waits for them.
func (ps *processes) stop(grace time.Duration) {
	ps.pool.mu.Lock()
	ps.stopping, ps.grace = true, grace
	for _, w := range ps.workers {
		if w != nil {
			w.socket.file.Close()
		}
	}
	close(ps.spawn)
	ps.pool.mu.Unlock()
}

// free gives everything up once no goroutine and no process is left.
func (ps *processes) free() {
	for _, s := range append(ps.segments, ps.retired...) {
		s.Close()
	}
	for _, o := range ps.payloads {
		o.File.Close()
	}
	for _, f := range append(ps.stdio[:], ps.init) {
		if f != nil {
			f.Close()
		}
	}
}
