package snapshot

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"strconv"
	"sync"
	"time"

	"infeed/core/errs"
	"infeed/core/vfs"
)

const (
	leaseFormat = "infeed.lease"
	leaseName   = "lease"
	leaseTime   = 60 // seconds for which it holds
)

// lease says who writes. It saves work; nothing depends on it.
type lease struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	Writer  string `json:"writer"`
	Host    string `json:"host"`
	Process int    `json:"process"`
	Started string `json:"started"`
	Renewed int64  `json:"renewed"`
}

// living is the writers of this process that have not ended.
var living sync.Map

// takeLease writes a lease for a writer.
func takeLease(fs vfs.FS, folder, writer string) error {
	host, _ := os.Hostname()
	text, err := seal(lease{leaseFormat, version, writer, host, os.Getpid(), started(os.Getpid()), time.Now().Unix()})
	if err != nil {
		return err
	}
	own := path.Join(folder, "lease-"+writer+".tmp")
	f, err := fs.Create(own)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return fs.Rename(own, path.Join(folder, leaseName))
}

// readLease returns the lease in a folder; nil: there is none that can be read.
func readLease(fs vfs.FS, folder string) (*lease, error) {
	text, err := readFile(fs, path.Join(folder, leaseName))
	if err != nil {
		if errs.KindOf(err) == errs.NotFound {
			return nil, nil
		}
		return nil, err
	}
	l := &lease{}
	if unseal(text, l) != nil || l.Format != leaseFormat {
		return nil, nil
	}
	return l, nil
}

// leased tells whether another writer, which is alive as far as one can know, writes
// in a folder.
func leased(fs vfs.FS, folder string) (bool, error) {
	l, err := readLease(fs, folder)
	if err != nil || l == nil {
		return false, err
	}
	age := time.Now().Unix() - l.Renewed
	if age < -leaseTime || age > leaseTime { // also where a clock jumped
		return false, nil
	}
	host, err := os.Hostname()
	if err != nil || host != l.Host || l.Started == "" {
		return true, nil
	}
	_, lives := living.Load(l.Writer)
	return started(l.Process) == l.Started && (lives || l.Process != os.Getpid()), nil
}

// dropLease removes a writer's own lease.
func dropLease(fs vfs.FS, folder, writer string) {
	if l, err := readLease(fs, folder); err == nil && l != nil && l.Writer == writer {
		_ = fs.Remove(path.Join(folder, leaseName)) // one that stays ends by itself
	}
}

// started returns when a process of this machine began, in clock ticks since boot;
// nothing where there is none.
func started(process int) string {
	b := vfs.Head(vfs.Local(), fmt.Sprintf("/proc/%d/stat", process))
	// The name of the program, in parentheses, may hold anything.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	const startTime = 19 // of the fields behind the name
	if len(fields) <= startTime {
		return ""
	}
	if _, err := strconv.ParseUint(string(fields[startTime]), 10, 64); err != nil {
		return ""
	}
	return string(fields[startTime])
}
