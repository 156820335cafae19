package feed

import (
	"encoding/binary"
	"errors"
	"io"
	"os"
	"syscall"
)

// A message between pool and worker process is 64 bytes, little-endian, sent as
// one packet of a SOCK_SEQPACKET socket, sometimes with one descriptor:
//
//	u32 kind, i32 status, u64 job, i64 index, i64 pass, i64 epoch, u64 seed,
//	u32 segment, u32 slot, u64 bytes
//
// python/infeed/_worker.py has the other half.
const messageBytes = 64

// Kinds of messages to a worker.
const (
	msgInit    = 1 // descriptor: bytes of the start parameters; once, first
	msgPayload = 2 // descriptor: bytes of pickled data; job: its id
	msgDataset = 3 // job: id of the payload the dataset is in; index: version
	msgSegment = 4 // descriptor: a segment; slot: how many slots of bytes each
	msgForget  = 5 // a segment or payload (job) is not used any more
	msgJob     = 6 // make a batch; segment and slot: where to, unless bytes is 0
	msgStacks  = 7 // descriptor: where to write stacks to on stackSignal
)

// Kinds of messages from a worker.
const (
	msgReady = 16 // it has its dataset
	msgDone  = 17 // a batch lies in its slot: index and pass say where its
	// description begins and how long it is, bytes what all of it takes
	msgElsewhere = 18 // a batch, or with status statusRaised an exception, lies behind the descriptor
	msgUnusable  = 19 // descriptor: why the dataset could not be loaded
)

type message struct {
	kind          uint32
	status        int32
	job           uint64
	index         int64
	pass, epoch   int64
	seed          uint64
	segment, slot uint32
	bytes         uint64
}

func (m *message) encode() []byte {
	b := make([]byte, messageBytes)
	le := binary.LittleEndian
	le.PutUint32(b[0:], m.kind)
	le.PutUint32(b[4:], uint32(m.status))
	le.PutUint64(b[8:], m.job)
	le.PutUint64(b[16:], uint64(m.index))
	le.PutUint64(b[24:], uint64(m.pass))
	le.PutUint64(b[32:], uint64(m.epoch))
	le.PutUint64(b[40:], m.seed)
	le.PutUint32(b[48:], m.segment)
	le.PutUint32(b[52:], m.slot)
	le.PutUint64(b[56:], m.bytes)
	return b
}

func decodeMessage(b []byte) message {
	le := binary.LittleEndian
	return message{
		kind: le.Uint32(b[0:]), status: int32(le.Uint32(b[4:])), job: le.Uint64(b[8:]),
		index: int64(le.Uint64(b[16:])), pass: int64(le.Uint64(b[24:])), epoch: int64(le.Uint64(b[32:])),
		seed: le.Uint64(b[40:]), segment: le.Uint32(b[48:]), slot: le.Uint32(b[52:]), bytes: le.Uint64(b[56:]),
	}
}

// socket is one end of a connection to a worker.
type socket struct {
	file *os.File
	raw  syscall.RawConn
}

// newSocket returns our end, which the runtime's poller waits on, and the worker's.
func newSocket() (*socket, *os.File, error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, err
	}
	theirs := os.NewFile(uintptr(fds[1]), "infeed-worker")
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		syscall.Close(fds[0])
		theirs.Close()
		return nil, nil, err
	}
	file := os.NewFile(uintptr(fds[0]), "infeed-pool")
	raw, err := file.SyscallConn()
	if err != nil {
		file.Close()
		theirs.Close()
		return nil, nil, err
	}
	return &socket{file: file, raw: raw}, theirs, nil
}

// send sends a message, with the descriptor of f unless it is nil.
func (s *socket) send(m message, f *os.File) error {
	var rights []byte
	if f != nil {
		rights = syscall.UnixRights(int(f.Fd()))
	}
	b := m.encode()
	var sendErr error
	err := s.raw.Write(func(fd uintptr) bool {
		sendErr = syscall.Sendmsg(int(fd), b, rights, nil, syscall.MSG_NOSIGNAL)
		return !errors.Is(sendErr, syscall.EAGAIN)
	})
	return errors.Join(err, sendErr)
}

// receive waits for a message. The error is io.EOF when the worker is gone.
func (s *socket) receive() (message, *os.File, error) {
	var b [messageBytes]byte
	var oob [32]byte
	var n, oobn int
	var recvErr error
	err := s.raw.Read(func(fd uintptr) bool {
		n, oobn, _, _, recvErr = syscall.Recvmsg(int(fd), b[:], oob[:], syscall.MSG_CMSG_CLOEXEC)
		return !errors.Is(recvErr, syscall.EAGAIN)
	})
	if err != nil || recvErr != nil || n < messageBytes {
		return message{}, nil, io.EOF
	}
	return decodeMessage(b[:]), rightsFile(oob[:oobn]), nil
}

func rightsFile(oob []byte) *os.File {
	parsed, err := syscall.ParseSocketControlMessage(oob)
	if err != nil || len(parsed) == 0 {
		return nil
	}
	fds, err := syscall.ParseUnixRights(&parsed[0])
	if err != nil || len(fds) == 0 {
		return nil
	}
	return os.NewFile(uintptr(fds[0]), "infeed-memfd")
}
