package feed

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"infeed/core/arena"
	"infeed/core/errs"
	"infeed/core/par"
)

// The tests run this binary again as a worker that speaks the protocol of wire.go.
// Its dataset is a text of words, each a way to misbehave:
//
//	die=7     batch 7 kills the worker, every time
//	once=7    the same, but only where the file named by path= is not there yet
//	raise=7   batch 7 raises
//	unusable  the dataset cannot be loaded
//	stillborn the worker ends before it is ready
//	big=n     batches from index n on take 300 KB
func TestMain(m *testing.M) {
	if os.Getenv("INFEED_FAKE_WORKER") != "" {
		fakeWorker()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

type fake struct {
	file     *os.File
	segments map[uint32][]byte
	slotSize map[uint32]uint64
	words    map[string]string
}

func fakeWorker() {
	file := os.NewFile(3, "socket")
	f := fake{file: file, segments: map[uint32][]byte{}, slotSize: map[uint32]uint64{}}
	for {
		var b [messageBytes]byte
		var oob [32]byte
		n, oobn, _, _, err := syscall.Recvmsg(3, b[:], oob[:], 0)
		if err != nil || n < messageBytes {
			return
		}
		f.handle(decodeMessage(b[:]), rightsFile(oob[:oobn]))
	}
}

func (f *fake) handle(m message, file *os.File) {
	switch m.kind {
	case msgPayload:
		text, _ := io.ReadAll(io.NewSectionReader(file, 0, int64(m.bytes)))
		f.words = map[string]string{}
		for _, w := range strings.Fields(string(text)) {
			k, v, _ := strings.Cut(w, "=")
			f.words[k] = v
		}
	case msgDataset:
		f.ready()
	case msgSegment:
		b, err := syscall.Mmap(int(file.Fd()), 0, int(m.bytes)*int(m.slot), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
		if err != nil {
			os.Exit(4)
		}
		f.segments[m.segment], f.slotSize[m.segment] = b, m.bytes
	case msgJob:
		f.make(m)
	}
}

func (f *fake) ready() {
	if _, ok := f.words["stillborn"]; ok {
		os.Exit(5)
	}
	if _, ok := f.words["unusable"]; ok {
		f.elsewhere(message{kind: msgUnusable}, []byte("no module named data"))
		return
	}
	f.send(message{kind: msgReady}, nil)
}

// make answers with the batch {index, pass}, 16 bytes, or as much more as big= says.
func (f *fake) make(m message) {
	index := itoa(m.index)
	if f.words["die"] == index {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	if f.words["once"] == index {
		if fd, err := syscall.Open(f.words["path"], syscall.O_CREAT|syscall.O_EXCL, 0o600); err == nil {
			syscall.Close(fd)
			os.Exit(3)
		}
	}
	if f.words["raise"] == index {
		f.elsewhere(message{kind: msgElsewhere, status: statusRaised, job: m.job}, []byte("an exception"))
		return
	}
	size := 16
	if big, ok := f.words["big"]; ok && itoa(m.index) >= big {
		size = 300_000
	}
	data := make([]byte, size)
	binary.LittleEndian.PutUint64(data, uint64(m.index))
	binary.LittleEndian.PutUint64(data[size-8:], uint64(m.pass))
	done := message{job: m.job, pass: int64(size)}
	if uint64(size) > m.bytes {
		done.kind = msgElsewhere
		f.elsewhere(done, data)
		return
	}
	copy(f.segments[m.segment][uint64(m.slot)*f.slotSize[m.segment]:], data)
	done.kind, done.bytes = msgDone, uint64(size)
	f.send(done, nil)
}

func (f *fake) elsewhere(m message, data []byte) {
	file, err := arena.NewFile(int64(len(data)))
	if err != nil {
		os.Exit(6)
	}
	if _, err := file.WriteAt(data, 0); err != nil {
		os.Exit(6)
	}
	m.bytes = uint64(len(data))
	f.send(m, file)
}

func (f *fake) send(m message, file *os.File) {
	var rights []byte
	if file != nil {
		rights = syscall.UnixRights(int(file.Fd()))
		defer file.Close()
	}
	if err := syscall.Sendmsg(3, m.encode(), rights, nil, 0); err != nil {
		os.Exit(7)
	}
}

func itoa(v int64) string {
	const digits = "0123456789"
	if v < 10 {
		return digits[v : v+1]
	}
	return itoa(v/10) + digits[v%10:v%10+1]
}

// newProcessPool starts workers whose dataset is the text words.
func newProcessPool(t *testing.T, workers, queue int, words string) *Pool {
	t.Helper()
	noLeaks(t)
	init, err := arena.NewFile(0)
	require.NoError(t, err)
	defer init.Close()
	null, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer null.Close()
	exe, err := os.Executable()
	require.NoError(t, err)
	p, err := NewPool(Options{Workers: workers, Queue: queue, Process: &ProcessOptions{
		Argv: [][]byte{[]byte(exe)}, Env: [][]byte{[]byte("INFEED_FAKE_WORKER=1"), []byte("GORACE=atexit_sleep_ms=0")},
		Stdio: [3]int{int(null.Fd()), 1, 2}, Init: int(init.Fd())}})
	require.NoError(t, err)
	t.Cleanup(func() {
		p.Stop()
		p.Close(time.Second)
	})
	setWords(t, p, 1, words)
	return p
}

func setWords(t *testing.T, p *Pool, version int64, words string) {
	t.Helper()
	file, err := arena.NewFile(int64(len(words)))
	require.NoError(t, err)
	_, err = file.WriteAt([]byte(words), 0)
	require.NoError(t, err)
	require.NoError(t, p.SetDataset(version, uint64(version), []Payload{{ID: uint64(version), File: file, Bytes: uint64(len(words))}}))
}

// noLeaks checks, after everything that was cleaned up later, that nothing is left.
func noLeaks(t *testing.T) {
	t.Helper()
	goroutines, mapped := par.Live(), arena.MappedBytes()
	files := len(openFiles(t))
	t.Cleanup(func() {
		require.Equal(t, goroutines, par.Live(), "goroutines are left")
		require.Equal(t, mapped, arena.MappedBytes(), "memory is left")
		left := openFiles(t)
		require.LessOrEqual(t, len(left), files, "descriptors are left: %v", left)
		_, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		require.True(t, errors.Is(err, syscall.ECHILD), "processes are left")
	})
}

func openFiles(t *testing.T) []string {
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		link, _ := os.Readlink("/proc/self/fd/" + e.Name())
		out = append(out, link)
	}
	return out
}

// take returns the next entry of a walk, lent to the caller.
func take(t *testing.T, w *Walk) (arena.Entry, int32) {
	t.Helper()
	e, status := w.Queue.Take(20 * time.Second)
	require.NotEqual(t, int32(1), status, "no batch came within 20 s")
	if status == 0 && e.Slot != 0 {
		arena.Lend(e.Slot)
	}
	return e, status
}

// batch reads what fake.make wrote, and gives the slot back.
func batch(t *testing.T, e arena.Entry) (index, pass int64) {
	t.Helper()
	require.NotZero(t, e.Slot)
	b := arena.Memory(e.Slot)
	n := e.MetaOffset + uint64(e.MetaBytes)
	index = int64(binary.LittleEndian.Uint64(b))
	pass = int64(binary.LittleEndian.Uint64(b[n-8:]))
	require.True(t, arena.Release(e.Slot))
	return index, pass
}

func kindOf(status int32) errs.Kind { return errs.Kind(-status) }
