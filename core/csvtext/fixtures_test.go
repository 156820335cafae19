package csvtext

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/spec"
	"infeed/internal/testkit"
)

// corpusFile is a file of another project with what readers make of it.
type corpusFile struct {
	File, Kind string
	Expected   struct {
		Outcome   string
		ErrorKind string `json:"error_kind"`
		Reference struct {
			Options struct {
				Delimiter, Encoding string
				Header              bool
			}
			CSV struct {
				Records    int `json:"records_incl_header"`
				EmptyLines int `json:"empty_lines"`
				SHA256     string
				First      []string
				WrongWidth int `json:"wrong_width_count"`
			} `json:"python_csv"`
			Pandas struct {
				Names []string           `json:"column_names"`
				Types []string           `json:"column_dtypes"`
				Sums  map[string]float64 `json:"numeric_sums"`
			}
			TensorFlow struct {
				Rows  *int
				Error string
			} `json:"tf_csv_dataset"`
		}
	}
}

func corpus(t *testing.T) (out []corpusFile) {
	var list struct{ Files []corpusFile }
	testkit.JSON(t, testkit.Shared(t, "fixtures/corpus/MANIFEST.json"), &list)
	for _, f := range list.Files {
		if f.Kind == "csv" {
			out = append(out, f)
		}
	}
	require.Len(t, out, 34)
	return out
}

func (f corpusFile) read(t *testing.T) []byte {
	b, err := os.ReadFile(testkit.Shared(t, "fixtures/corpus/"+f.File))
	require.NoError(t, err)
	if strings.HasSuffix(f.File, ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(b))
		require.NoError(t, err)
		b, err = io.ReadAll(r)
		require.NoError(t, err)
	}
	return b
}

func (f corpusFile) dialect() Dialect {
	return Dialect{Delim: f.Expected.Reference.Options.Delimiter[0]}
}

// texts reads all rows as texts, as many columns as the first has; wrong rows are nil.
func (f corpusFile) texts(t *testing.T, data []byte) (rows [][]string, bad []*Fault) {
	first, _, _ := Fields(f.dialect(), data)
	c := slices.Repeat([]Column{{DType: spec.Text, Default: []byte{}}}, len(first))
	fm := format(t, f.dialect(), c, nil)
	for p := 0; p < len(data); {
		out := make([]Values, len(c))
		n, next, wrong := fm.Parse(data[p:], math.MaxInt, out)
		for i := range n {
			var texts []string
			for _, cell := range cells(c, out, i) {
				texts = append(texts, string(cell))
			}
			rows = append(rows, texts)
		}
		if p += next; wrong != nil {
			bad = append(bad, wrong)
		}
	}
	return rows, bad
}

func TestFilesOfOtherProjects(t *testing.T) {
	for _, f := range corpus(t) {
		data := f.read(t)
		mark, err := Mark(data)
		if f.Expected.Reference.Options.Encoding == "utf-16" {
			require.ErrorContains(t, err, "convert it to UTF-8", f.File)
			continue
		}
		require.NoError(t, err)
		want := f.Expected.Reference
		rows, bad := f.texts(t, data[mark:])
		t.Run(f.File, func(t *testing.T) {
			switch f.Expected.ErrorKind {
			case "wrong_field_count":
				require.Len(t, bad, want.CSV.WrongWidth)
				require.Contains(t, bad[0].Text, "fields, and")
				require.Len(t, rows, want.CSV.Records-want.CSV.WrongWidth)
				return
			case "unterminated_quote":
				require.Len(t, bad, 1)
				require.Contains(t, bad[0].Text, "has none at its end")
				return
			case "empty_file": // there is nothing to complain about but that there is no header
				require.Empty(t, rows)
				return
			}
			require.Equal(t, "ok", f.Expected.Outcome)
			if want.TensorFlow.Rows != nil {
				header := 0
				if want.Options.Header {
					header = 1
				}
				require.Len(t, rows, *want.TensorFlow.Rows+header)
			}
			require.Len(t, bad, want.CSV.EmptyLines) // which are rows of one field here, as in TensorFlow
			require.Len(t, rows, want.CSV.Records)
			if f.Expected.Reference.Options.Encoding == "latin-1" {
				for i := range rows {
					for j := range rows[i] {
						rows[i][j] = string(latin1(rows[i][j]))
					}
				}
			}
			require.Equal(t, want.CSV.SHA256, digest(t, rows))
		})
	}
}

func latin1(text string) (out []rune) {
	for i := range len(text) {
		out = append(out, rune(text[i]))
	}
	return out
}

// digest hashes rows as JSON.
func digest(t *testing.T, rows [][]string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	require.NoError(t, e.Encode(rows))
	sum := sha256.Sum256(bytes.TrimRight(b.Bytes(), "\n"))
	return hex.EncodeToString(sum[:])
}

// The columns that pandas finds to be numbers have its sums.
func TestNumbersOfOtherProjects(t *testing.T) {
	sums := 0
	for _, f := range corpus(t) {
		want := f.Expected.Reference
		if f.Expected.Outcome != "ok" || want.CSV.EmptyLines > 0 || want.Options.Encoding == "utf-16" || len(want.Pandas.Names) == 0 {
			continue
		}
		data := f.read(t)
		mark, err := Mark(data)
		require.NoError(t, err)
		data = data[mark:]
		if want.Options.Header {
			_, next, bad := Fields(f.dialect(), data)
			require.Nil(t, bad)
			data = data[next:]
		}
		for i, kind := range want.Pandas.Types {
			sum, found := want.Pandas.Sums[want.Pandas.Names[i]]
			if kind != "int64" && kind != "float64" || !found || f.File == "csv/missing_values.csv" { // where pandas takes NULL for a missing number
				continue
			}
			c := []Column{{dtypes["f8"], make([]byte, 8)}}
			out := make([]Values, 1)
			_, _, bad := format(t, f.dialect(), c, []int{i}).Parse(data, math.MaxInt, out)
			require.Nil(t, bad, "%s: %+v", f.File, bad)
			got := 0.0
			for p := 0; p < len(out[0].Data); p += 8 {
				got += math.Float64frombits(binary.LittleEndian.Uint64(out[0].Data[p:]))
			}
			require.InDelta(t, sum, got, 1e-9*math.Abs(sum), "%s: column %d", f.File, i)
			sums++
		}
	}
	require.Greater(t, sums, 40)
}
