package feed

import (
	"fmt"
	"sync"
	"time"

	"infeed/core/arena"
	"infeed/core/errs"
	"infeed/core/par"
)

// Options describe a pool.
type Options struct {
	Workers int             `json:"workers"` // at least 1
	Queue   int             `json:"queue"`   // batches that may wait; 0: as many as workers
	Process *ProcessOptions `json:"process"` // nil: threads of the caller's process
}

// WorkerFailure is a batch that no worker could make.
type WorkerFailure struct {
	Text string
	Exit int // exit status; negative a signal; ExitUnknown
}

// ExitUnknown stands for an exit status that somebody else collected.
const ExitUnknown = 1 << 20

// Pool owns the workers of one dataset.
type Pool struct {
	// Work is woken whenever there may be something to do: a batch was taken, a
	// slot came back, a walk was opened.
	Work *arena.Event

	opt       Options
	group     *par.Group
	processes *processes // nil in thread mode

	mu       sync.Mutex
	walks    []*Walk
	lastWalk int64
	jobs     map[uint64]*job // being made
	lastJob  uint64
	fatal    *WorkerFailure
	closed   bool
}

// NewPool returns a pool; its worker processes, if it has any, start at once but
// get no job before SetDataset.
func NewPool(opt Options) (*Pool, error) {
	if opt.Workers < 1 || opt.Queue < 0 {
		return nil, errs.New(errs.InvalidArgument, "pool", "workers is %d and max_queue_size %d; at least 1 and 0 are needed",
			opt.Workers, opt.Queue)
	}
	p := &Pool{Work: arena.NewEvent(), opt: opt, jobs: map[uint64]*job{}}
	p.group = par.NewGroup(func(err error) { p.setFatal(&WorkerFailure{Text: err.Error(), Exit: ExitUnknown}) })
	if opt.Process != nil {
		p.processes = startProcesses(p)
	}
	return p, nil
}

// Stop makes everybody who waits for the pool return, and workers end.
func (p *Pool) Stop() {
	p.mu.Lock()
	p.closed = true
	for _, w := range p.walks {
		w.Stop()
	}
	p.mu.Unlock()
	p.wake()
}

// Close frees the pool after Stop. Worker processes that do not end within grace
// are killed; none is left when Close returns.
func (p *Pool) Close(grace time.Duration) {
	if p.processes != nil {
		p.processes.stop(grace)
	}
	p.group.Wait()
	if p.processes != nil {
		p.processes.free()
	}
	arena.FreeEvent(p.Work)
}

// wake has whoever hands out jobs look again.
func (p *Pool) wake() {
	p.Work.Wake()
	if p.processes != nil {
		p.processes.again()
	}
}

func (p *Pool) register(j *job) *job {
	p.lastJob++
	j.id = p.lastJob
	p.jobs[j.id] = j
	return j
}

// nextJob looks through the walks, the one opened last first: what was opened
// last is what its consumer waits for now.
func (p *Pool) nextJob() *job {
	for i := len(p.walks) - 1; i >= 0; i-- {
		if j := p.walks[i].next(); j != nil {
			return j
		}
	}
	return nil
}

func (p *Pool) setFatal(f *WorkerFailure) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail(f)
}

func (p *Pool) fail(f *WorkerFailure) {
	p.fatal = f
	for _, w := range p.walks {
		w.fail(f)
	}
}

// Job is what a thread is told to make.
type Job struct {
	ID          uint64
	Walk, Index int64
	Pass, Epoch int64
	Seed        uint64
}

// Take gives the calling thread the next job; ok is false when there is none now.
func (p *Pool) Take(thread int64) (got Job, ok bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return Job{}, false, errs.New(errs.Cancelled, "job", "the dataset is closed")
	}
	j := p.nextJob()
	if j == nil {
		return Job{}, false, nil
	}
	j.thread = thread
	o := j.walk.opt
	return Job{ID: j.id, Walk: j.walk.Number, Index: j.index, Pass: o.Pass, Epoch: o.Epoch, Seed: o.Seed}, true, nil
}

// Done reports that a thread has made a job, well or not. It returns false when
// the batch is not wanted any more.
func (p *Pool) Done(id uint64) (wanted bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	j, ok := p.jobs[id]
	if !ok {
		return false, errs.New(errs.InvalidArgument, "job", "job %d was not given out", id)
	}
	delete(p.jobs, id)
	return j.walk.finish(j, arena.Entry{}), nil
}

func describeExit(exit int) string {
	switch {
	case exit == ExitUnknown:
		return "ended"
	case exit == -9:
		return "was killed by SIGKILL (signal 9), most often because memory ran out"
	case exit < 0:
		return fmt.Sprintf("was killed by signal %d", -exit)
	default:
		return fmt.Sprintf("ended with exit status %d", exit)
	}
}
