package source

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

// hurt returns a file system with files a and b of five records each, of which the
// third of a has a bit flipped at some byte of it.
func hurt(t testing.TB, at int) *memfs.FS {
	t.Helper()
	fs := memfs.New()
	for _, name := range []string{"a", "b"} {
		tfrecord(t, fs, name, codec.None, name+"0", name+"1", name+"2", name+"3", name+"4")
	}
	data := fs.Bytes("a")
	data[2*18+at] ^= 4
	fs.Set("a", data)
	return fs
}

func TestDamageIsAnErrorAtItsPlace(t *testing.T) {
	for at, text := range map[int]string{3: "the length of the record is corrupt", 9: "the length of the record is corrupt", 12: "checksum", 15: "checksum"} {
		fs := hurt(t, at)
		for _, kind := range []codec.Kind{codec.None, codec.Gzip} {
			fs.Set("x", pack(t, kind, string(fs.Bytes("a"))))
			d, err := TFRecord(Files{Paths: []string{"x", "b"}, Compression: codec.Auto})
			require.NoError(t, err)
			got := texts(t, on{d, fs})
			require.Len(t, got, 10, "byte %d", at)
			require.Contains(t, got[2], "!record: x at byte 36: ")
			require.Contains(t, got[2], text)
			require.Equal(t, []string{"a0", "a1", "a3", "a4", "b0", "b1", "b2", "b3", "b4"}, append(got[:2:2], got[3:]...))
			datasettest.Check(t, on{d, fs}, 20)
			d, err = TFRecord(Files{Paths: []string{"x", "b"}, Compression: codec.Auto, ParallelReads: 2})
			require.NoError(t, err)
			got = texts(t, on{d, fs})
			require.Contains(t, got[4], "!record: x at byte 36: ")
			require.Equal(t, []string{"a0", "b0", "a1", "b1", "b2", "a3", "b3", "a4", "b4"}, append(got[:4:4], got[5:]...))
			datasettest.Check(t, on{d, fs}, 20)
		}
	}
}

func TestDamageIsLeftOutAndCounted(t *testing.T) {
	for name, c := range map[string]struct {
		policy record.Policy
		want   string
	}{
		"skip":     {record.Skip, "a0 a1 a3 a4 b0 b1 b2 b3 b4 a0 a1 a3 a4"},
		"truncate": {record.Truncate, "a0 a1 b0 b1 b2 b3 b4 a0 a1"},
	} {
		for _, at := range []int{3, 12} {
			fs := hurt(t, at)
			d, err := TFRecord(Files{Paths: []string{"a", "b", "a"}, Errors: c.policy})
			require.NoError(t, err)
			require.Equal(t, c.want, strings.Join(texts(t, on{d, fs}), " "), name)
			datasettest.Check(t, on{d, fs}, 20)
			counts(t, on{d, fs}, 2, "a at byte 36", "a at byte 36")
			p, err := TFRecord(Files{Paths: []string{"a", "b", "a"}, Errors: c.policy, ParallelReads: 2})
			require.NoError(t, err)
			datasettest.Check(t, on{p, fs}, 20)
			counts(t, on{p, fs}, 2, "a at byte 36", "a at byte 36")
		}
	}
}

// What was an error is not counted as left out: neither with the policy Raise, nor what
// is no damage with another.
func TestErrorsAreNotCounted(t *testing.T) {
	fs := hurt(t, 12)
	for policy, paths := range map[record.Policy][]string{record.Raise: {"a", "absent", "b"}, record.Skip: {"b", "absent", "b"}} {
		d, err := TFRecord(Files{Paths: paths, Errors: policy})
		require.NoError(t, err)
		s := dataset.NewScope(fs, 0)
		it, err := d.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		all, _ := datasettest.Take(t, it, 1, 100)
		require.Len(t, all, 11)
		require.Nil(t, it.Token().Losses())
		s.Close()
	}
}

// counts shows that tokens count what was left out, wherever a walk is taken up.
func counts(t *testing.T, d dataset.Definition, count int64, places ...string) {
	t.Helper()
	for _, workers := range []int{0, 2} {
		s := datasettest.Scope(workers)
		it, err := d.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		all, tokens := datasettest.Take(t, it, 1, 1000)
		require.Equal(t, &dataset.Lost{Count: count, Places: places}, it.Token().Losses())
		s.Close()
		for k, token := range tokens {
			s := datasettest.Scope(workers)
			it, err := d.Iterate(s, dataset.PassKey(0), datasettest.Reload(t, token))
			require.NoError(t, err)
			rest, _ := datasettest.Take(t, it, 2, 1000)
			require.Len(t, rest, len(all)-k)
			require.Equal(t, &dataset.Lost{Count: count, Places: places}, it.Token().Losses(), "taken up before element %d: %s", k, asJSON(t, token))
			s.Close()
		}
	}
}

func TestFilesCutAtEveryByte(t *testing.T) {
	fs := memfs.New()
	tfrecord(t, fs, "whole", codec.None, "a", "bb", "ccc")
	whole := fs.Bytes("whole")
	for n := range whole {
		fs.Set("a", whole[:n])
		clean := n == 0 || n == 17 || n == 35
		for policy, errors := range map[record.Policy]int{record.Raise: 2, record.Skip: 0, record.Truncate: 0} {
			d, err := TFRecord(Files{Paths: []string{"a", "a"}, Errors: policy})
			require.NoError(t, err)
			got := texts(t, on{d, fs})
			if clean {
				errors = 0
			}
			want := 2 * map[bool]int{true: 1, false: 0}[n >= 17]
			want += 2 * map[bool]int{true: 1, false: 0}[n >= 35]
			require.Len(t, got, want+errors, "cut at %d, policy %d", n, policy)
		}
	}
}

func TestFilesThatAreSomethingElse(t *testing.T) {
	fs := memfs.New()
	tfrecord(t, fs, "good", codec.None, "x")
	fs.Set("gzip", pack(t, codec.Gzip, strings.Repeat("hello ", 1000)))
	cut := pack(t, codec.Gzip, string(fs.Bytes("good")))
	fs.Set("cut", cut[:len(cut)-12])
	fs.Set("png", append([]byte("\x89PNG\r\n\x1a\n"), make([]byte, 1000)...))
	fs.Set("empty", nil)
	for path, c := range map[string]struct {
		kind codec.Kind
		kin  errs.Kind
		text string
	}{
		"absent": {codec.None, errs.NotFound, `"absent"`},
		"gzip":   {codec.None, errs.DataLoss, `give compression_type="GZIP" or "AUTO"`},
		"cut":    {codec.Gzip, errs.DataLoss, "it was cut"},
		"png":    {codec.None, errs.DataLoss, "this is not a TFRecord file"},
		"good":   {codec.Zlib, errs.DataLoss, "not compressed"},
	} {
		d, err := TFRecord(Files{Paths: []string{path, "empty", "good"}, Compression: c.kind})
		require.NoError(t, err)
		s := dataset.NewScope(fs, 0)
		it, err := d.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		_, err = it.Next(10, &block.Buffer{})
		require.Equal(t, c.kin, errs.KindOf(err), path)
		require.ErrorContains(t, err, c.text)
		s.Close()
		datasettest.Check(t, on{d, fs}, 10)
	}
}

func TestGzipOfSeveralMembersAndOneThatIsCorrupt(t *testing.T) {
	fs := memfs.New()
	members := append(pack(t, codec.Gzip, "a\nb"), pack(t, codec.Gzip, "c\nd\n")...)
	fs.Set("x", members)
	d, err := TextLine(Files{Paths: []string{"x"}, Compression: codec.Auto})
	require.NoError(t, err)
	require.Equal(t, []string{"a", "bc", "d"}, texts(t, on{d, fs}))
	bad := bytes.Clone(members)
	bad[len(bad)-5] ^= 1 // of the checksum of the second member
	fs.Set("x", bad)
	got := texts(t, on{d, fs})
	require.Contains(t, got[len(got)-1], "x at byte")
	require.Contains(t, got[len(got)-1], "corrupt")
}

func TestFixedLengthFilesWithARest(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", []byte("11223"))
	fs.Set("b", []byte("44"))
	for policy, want := range map[record.Policy]string{
		record.Raise: "! 11 22 44 ! 11 22", record.Skip: "11 22 44 11 22", record.Truncate: "11 22 44 11 22",
	} {
		d, err := FixedLength(Files{Paths: []string{"a", "b", "a"}, Errors: policy}, 2, 0, 0)
		require.NoError(t, err)
		got := texts(t, on{d, fs})
		for i, x := range got {
			if strings.Contains(x, "a at byte 4: the file has 5 bytes; after 2 records of 2 bytes there is a rest of 1") {
				got[i] = "!"
			}
		}
		require.Equal(t, want, strings.Join(got, " "))
		datasettest.Check(t, on{d, fs}, 10)
	}
}

func TestFilesThatChangeWhileTheyAreRead(t *testing.T) {
	fs := memfs.New()
	record := strings.Repeat("x", 10_000)
	tfrecord(t, fs, "a", codec.None, record, record, record, record)
	data := fs.Bytes("a")
	d, err := TFRecord(Files{Paths: []string{"a"}, BufferBytes: 1})
	require.NoError(t, err)
	s := dataset.NewScope(fs, 0)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, err = it.Next(1, &block.Buffer{})
	require.NoError(t, err)
	fs.Set("a", data[:15_000])
	all, _ := datasettest.Take(t, it, 1, 10)
	require.Contains(t, all[len(all)-1].Err, "a at byte")
	require.Contains(t, all[len(all)-1].Err, "cut short while it was read")
}

func TestEveryFileOperationCanFail(t *testing.T) {
	for name, source := range kinds(t) {
		for _, parallel := range []int64{0, 2} {
			want := []string(nil)
			for n := 0; ; n++ {
				fs := memfs.New()
				source.write(fs, "a", codec.None, numbered("a", 4)...)
				source.write(fs, "b", codec.Gzip, numbered("b", 4)...)
				d, err := source.open(Files{Paths: []string{"a", "b"}, Compression: codec.Auto, ParallelReads: parallel})
				require.NoError(t, err)
				if want == nil {
					want = texts(t, on{d, fs})
				}
				faulty := faultfs.New(fs, n)
				got := texts(t, on{d, faulty})
				if !faulty.Failed() {
					require.Equal(t, want, got)
					require.Greater(t, n, 4)
					break
				}
				if fmt.Sprint(got) != fmt.Sprint(want) { // else it was the closing of a file
					require.Contains(t, strings.Join(got, "\n"), "injected fault", "%s, operation %d", name, n)
				}
			}
		}
	}
}
