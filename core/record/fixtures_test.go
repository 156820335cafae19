package record

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/internal/testkit"
)

// Files that TensorFlow wrote, and damaged ones made of them.
func TestFilesOfTensorFlow(t *testing.T) {
	var manifest struct {
		Fixtures []struct {
			Name, Path, Content, Compression, Expected, Outcome string
			Num                                                 int `json:"num_elements"`
		}
	}
	testkit.JSON(t, testkit.TF(t, "MANIFEST.json"), &manifest)
	require.NotEmpty(t, manifest.Fixtures)
	damaged := map[string]int{"torn_header.tfrecord": 545, "torn_data.tfrecord": 545, "torn_footer.tfrecord": 545,
		"bad_data_crc.tfrecord": 1301, "bad_length_crc.tfrecord": 1301, "bad_length.tfrecord": 1301, "text.tfrecord": 0, "truncated.tfrecord.gz": 1202}
	for _, f := range manifest.Fixtures {
		path := testkit.TF(t, f.Path)
		kind, err := codec.Parse(f.Compression)
		require.NoError(t, err)
		for _, kind := range []codec.Kind{kind, codec.Auto} {
			got, _, err := walk(t, vfs.Local(), []string{path}, TFRecord(), Options{Compression: kind}, Token{}, 7)
			if f.Outcome == "ok" {
				require.NoError(t, err, f.Name)
			} else {
				lossAt(t, err, path, damaged[f.Name], "%s", f.Name)
			}
			if f.Name != "truncated.tfrecord.gz" { // what comes before its end is not told
				require.Len(t, got, f.Num, f.Name)
			}
			if f.Content == "" && f.Name != "truncated.tfrecord.gz" {
				sameRecords(t, testkit.TF(t, f.Expected), got)
			}
		}
	}
}

func sameRecords(t *testing.T, expected string, got []string) {
	t.Helper()
	var want struct {
		Records []struct {
			Len    int
			SHA256 string
			B64    string
		}
	}
	testkit.JSON(t, expected, &want)
	require.Len(t, got, len(want.Records))
	for i, w := range want.Records {
		require.Len(t, got[i], w.Len, "%s: %d", expected, i)
		sum := sha256.Sum256([]byte(got[i]))
		require.Equal(t, w.SHA256, hex.EncodeToString(sum[:]), "%s: %d", expected, i)
		if w.B64 != "" {
			require.Equal(t, w.B64, base64.StdEncoding.EncodeToString([]byte(got[i])))
		}
	}
}

// corpus is the list of files of other projects with what they hold.
type corpus struct {
	Files []struct {
		File, Kind string
		Expected   struct {
			Outcome   string
			Reference struct {
				Options struct {
					Compression *string
					Header      int64 `json:"header_bytes"`
					Record      int64 `json:"record_bytes"`
					Footer      int64 `json:"footer_bytes"`
				}
				TensorFlow struct {
					Records int
					SHA256  string `json:"sha256_len64_payload"`
				}
				Own struct {
					Records int
					Offset  int
				} `json:"own_reader"`
				Reference struct {
					Lines   int
					Whole   int    `json:"whole_records"`
					SHA256  string `json:"sha256_len64_line"`
					OfFixed string `json:"sha256_body"`
				}
			}
		}
	}
}

func TestFilesOfOtherProjects(t *testing.T) {
	var list corpus
	testkit.JSON(t, testkit.Shared(t, "fixtures/corpus/MANIFEST.json"), &list)
	seen := map[string]int{}
	for _, f := range list.Files {
		want := f.Expected.Reference
		var format Format
		number, sum := 0, ""
		switch f.Kind {
		case "tfrecord":
			format, number, sum = TFRecord(), want.Own.Records, want.TensorFlow.SHA256
		case "text":
			format, number, sum = Lines(), want.Reference.Lines, want.Reference.SHA256
		case "fixed":
			var err error
			format, err = FixedLength(want.Options.Record, want.Options.Header, want.Options.Footer)
			require.NoError(t, err)
			number, sum = want.Reference.Whole, want.Reference.OfFixed
		default:
			continue
		}
		seen[f.Kind]++
		path := testkit.Shared(t, "fixtures/corpus/"+f.File)
		got, _, err := walk(t, vfs.Local(), []string{path}, format, Options{Compression: codec.Auto}, Token{}, 100)
		if f.Expected.Outcome != "ok" {
			require.Equal(t, errs.DataLoss, errs.KindOf(err), f.File)
			if f.Kind == "fixed" {
				require.ErrorContains(t, err, "61560 bytes; after 20 records of 3073 bytes there is a rest of 100")
				continue
			}
			lossAt(t, err, path, want.Own.Offset, "%s", f.File)
		} else {
			require.NoError(t, err, f.File)
		}
		require.Len(t, got, number, f.File)
		require.Equal(t, sum, digest(got, f.Kind != "fixed"), f.File)
	}
	require.Equal(t, map[string]int{"tfrecord": 15, "text": 13, "fixed": 6}, seen)
}

// digest hashes records, each after its length.
func digest(records []string, lengths bool) string {
	h := sha256.New()
	for _, r := range records {
		if lengths {
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(r))))
		}
		h.Write([]byte(r))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// What infeed writes is what TensorFlow wrote, byte for byte.
func TestWriterWritesWhatTensorFlowWrites(t *testing.T) {
	path := testkit.TF(t, "tfrecord/plain.tfrecord")
	records, _, err := walk(t, vfs.Local(), []string{path}, TFRecord(), Options{}, Token{}, 7)
	require.NoError(t, err)
	theirs, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, theirs, frames(t, records...))
}
