package feed

import (
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"infeed/core/arena"
)

// stackSignal makes a worker write the stacks of its threads to a file that it
// was given; python/infeed/_worker.py registers it.
const stackSignal = syscall.Signal(40)

// worker is one worker process. The pool's lock guards it.
type worker struct {
	number   int
	process  *os.Process
	socket   *socket
	stacks   *os.File // what it writes on stackSignal
	ready    bool
	jobs     []*job // being made, and perhaps one more to be made next
	known    map[uint32]bool
	payloads map[uint64]bool
	recent   []place // slots it wrote to, the last one first
	lastDone time.Time
	mean     time.Duration // of making a batch, lately
}

// place is a slot by where it is.
type place struct {
	segment *arena.Segment
	index   int
}

func startWorker(n int, ps *processes) (*worker, error) {
	ours, theirs, err := newSocket()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	stacks, err := arena.NewFile(0)
	if err != nil {
		ours.file.Close()
		return nil, err
	}
	argv := texts(ps.opt.Argv)
	process, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Dir: string(ps.opt.Dir), Env: texts(ps.opt.Env),
		Files: append(ps.stdio[:3:3], theirs),
		// A group of its own: Ctrl-C is for the parent, which then ends its workers.
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true},
	})
	if err != nil {
		ours.file.Close()
		stacks.Close()
		return nil, err
	}
	w := &worker{number: n, process: process, socket: ours, stacks: stacks,
		known: map[uint32]bool{}, payloads: map[uint64]bool{}}
	// If it is gone already, its listener will say so.
	_ = ours.send(message{kind: msgInit, bytes: ps.opt.InitBytes, index: int64(n)}, ps.init)
	_ = ours.send(message{kind: msgStacks}, stacks)
	return w, nil
}

func texts(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}

func (w *worker) sendDataset(ps *processes) {
	if ps.version == 0 {
		return
	}
	for id := range w.payloads {
		if !slices.ContainsFunc(ps.payloads, func(o Payload) bool { return o.ID == id }) {
			_ = w.socket.send(message{kind: msgForget, status: msgPayload, job: id}, nil)
			delete(w.payloads, id)
		}
	}
	for _, o := range ps.payloads {
		if !w.payloads[o.ID] {
			_ = w.socket.send(message{kind: msgPayload, job: o.ID, bytes: o.Bytes}, o.File)
			w.payloads[o.ID] = true
		}
	}
	_ = w.socket.send(message{kind: msgDataset, job: ps.dataset, index: ps.version}, nil)
}

// give sends a job; a worker that is gone gives it back through its listener.
func (w *worker) give(j *job) {
	if len(w.jobs) == 0 {
		w.lastDone = time.Now()
	}
	w.jobs = append(w.jobs, j)
	o := j.walk.opt
	m := message{kind: msgJob, job: j.id, index: j.index, pass: o.Pass, epoch: o.Epoch, seed: o.Seed}
	if s := j.slot.Segment(); s != nil {
		if !w.known[s.Number()] {
			w.known[s.Number()] = true
			_ = w.socket.send(message{kind: msgSegment, segment: s.Number(), slot: uint32(s.Slots()), bytes: uint64(s.SlotSize)}, s.File)
		}
		m.segment, m.slot, m.bytes = s.Number(), uint32(j.slot.Index), uint64(s.SlotSize)
		w.remember(place{s, j.slot.Index})
	}
	_ = w.socket.send(m, nil)
}

func (w *worker) remember(at place) {
	w.recent = slices.DeleteFunc(w.recent, func(o place) bool { return o == at })
	w.recent = slices.Insert(w.recent, 0, at)
}

func (w *worker) forgetSegment(s *arena.Segment) {
	if w.known[s.Number()] {
		delete(w.known, s.Number())
		_ = w.socket.send(message{kind: msgForget, status: msgSegment, segment: s.Number()}, nil)
	}
}

// listen takes the messages of a worker until it is gone.
func (ps *processes) listen(w *worker) {
	p := ps.pool
	for {
		m, file, err := w.socket.receive()
		if err != nil {
			break
		}
		p.mu.Lock()
		ps.handle(w, m, file)
		if !p.closed {
			if ps.dispatch(); ps.blocked {
				ps.again()
			}
		}
		p.mu.Unlock()
	}
	ps.bury(w)
}

func (ps *processes) handle(w *worker, m message, file *os.File) {
	switch m.kind {
	case msgReady:
		w.ready, ps.startDeaths = true, 0
	case msgUnusable:
		text, _ := io.ReadAll(io.NewSectionReader(file, 0, int64(m.bytes)))
		file.Close()
		ps.pool.fail(&WorkerFailure{Exit: ExitUnknown, Text: string(text)})
	case msgDone, msgElsewhere:
		ps.finish(w, m, file)
	}
}

func (ps *processes) finish(w *worker, m message, file *os.File) {
	i := slices.IndexFunc(w.jobs, func(j *job) bool { return j.id == m.job })
	if i < 0 {
		if file != nil {
			file.Close()
		}
		return
	}
	j := w.jobs[i]
	w.jobs = slices.Delete(w.jobs, i, i+1)
	delete(ps.pool.jobs, j.id)
	w.timeJob()
	e := arena.Entry{Status: m.status, MetaOffset: uint64(m.index), MetaBytes: uint32(m.pass)}
	if m.kind == msgElsewhere {
		arena.Release(j.slot.Ref)
		slot, err := adopt(file, int64(m.bytes))
		if err != nil {
			j.walk.failJob(j, &WorkerFailure{Exit: ExitUnknown, Text: err.Error()})
			return
		}
		e.Slot = slot
		if m.status == 0 {
			ps.fit(int64(m.bytes))
		}
	} else {
		e.Slot = j.slot.Ref
		arena.MarkReady(e.Slot)
	}
	e.Address, e.Bytes = arena.Address(e.Slot)
	if !j.walk.finish(j, e) {
		arena.Release(e.Slot)
	}
}

// adopt maps memory that a worker made and lends it to the consumer to come: it is
// unmapped when it is given back.
func adopt(file *os.File, bytes int64) (uint64, error) {
	const page = 4096
	s, err := arena.MapSegment(file, 1, (bytes+page-1)/page*page, nil)
	if err != nil {
		file.Close()
		return 0, err
	}
	defer s.Close()
	slot, _ := s.TryAcquire()
	arena.MarkReady(slot.Ref)
	arena.Lend(slot.Ref)
	return slot.Ref, nil
}

func (w *worker) timeJob() {
	now := time.Now()
	took := now.Sub(w.lastDone)
	w.lastDone = now
	if w.mean == 0 {
		w.mean = took
	}
	w.mean += (took - w.mean) / 4
}

// bury waits for the end of a process whose socket is closed, takes back what it
// had, and has another started.
func (ps *processes) bury(w *worker) {
	p := ps.pool
	p.mu.Lock()
	grace := time.Second
	if ps.stopping {
		grace = ps.grace
	}
	p.mu.Unlock()
	kill := time.AfterFunc(grace, func() { _ = w.process.Kill() })
	exit := exitOf(w.process)
	kill.Stop()

	p.mu.Lock()
	defer p.mu.Unlock()
	w.socket.file.Close()
	w.stacks.Close()
	ps.workers[w.number] = nil
	for i, j := range w.jobs {
		delete(p.jobs, j.id)
		arena.Release(j.slot.Ref)
		if i == 0 {
			j.attempts++
		}
		if j.attempts < maxAttempts {
			j.walk.again(j)
			continue
		}
		j.walk.failJob(j, &WorkerFailure{Exit: exit, Text: fmt.Sprintf(
			"batch %d could not be made: %d worker processes ended while making it; the last one (worker %d, process %d) %s",
			j.index, j.attempts, w.number, w.process.Pid, describeExit(exit))})
	}
	if ps.stopping || p.fatal != nil {
		return
	}
	if !w.ready {
		if ps.startDeaths++; ps.startDeaths >= maxStartDeaths {
			p.fail(&WorkerFailure{Exit: exit, Text: fmt.Sprintf(
				"%d worker processes in a row ended before they could make a batch; the last one (process %d) %s",
				ps.startDeaths, w.process.Pid, describeExit(exit))})
			return
		}
	}
	ps.spawn <- w.number
	p.wake()
}

// exitOf waits for a process and returns its exit status, a signal negated.
func exitOf(process *os.Process) int {
	state, err := process.Wait()
	if err != nil {
		return ExitUnknown
	}
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return -int(ws.Signal())
	}
	return state.ExitCode()
}

// failJob delivers, in place of a batch, that it cannot be made.
func (w *Walk) failJob(j *job, f *WorkerFailure) {
	if j.generation == w.generation && !w.closed {
		w.failures[j.position] = f
		w.finish(j, arena.Entry{Status: statusWorker})
	}
}

// Stacks asks a worker process for the stacks of its threads.
func (p *Pool) Stacks(n int) string {
	p.mu.Lock()
	ps := p.processes
	if ps == nil || ps.pid(n) == 0 {
		p.mu.Unlock()
		return ""
	}
	w := ps.workers[n]
	file := Duplicate(int(w.stacks.Fd()))
	_ = w.process.Signal(stackSignal)
	p.mu.Unlock()
	if file == nil {
		return ""
	}
	defer file.Close()
	var last int64
	for range 30 { // it writes within a few milliseconds, if it can at all
		time.Sleep(10 * time.Millisecond)
		info, err := file.Stat()
		if err != nil || info.Size() > 0 && info.Size() == last {
			break
		}
		last = info.Size()
	}
	b, _ := io.ReadAll(io.NewSectionReader(file, max(0, last-6000), 6000))
	return string(b)
}
