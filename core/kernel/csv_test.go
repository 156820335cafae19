package kernel

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// csvSteps has room for rows of a number of each type and two texts.
func csvSteps(rows int) []CSVStep {
	steps := []CSVStep{{Op: CSVInt64}, {Op: CSVFloat32}, {Op: CSVText}, {Op: CSVSkip}, {Op: CSVInt32}, {Op: CSVFloat64}, {Op: CSVText, Default: []byte("none")}}
	for i := range steps {
		s := &steps[i]
		s.Numbers, s.Texts = make([]byte, 8*rows), make([]byte, 100*rows)
		s.Starts, s.Ends = make([]int64, rows), make([]int64, rows)
	}
	return steps
}

const csvRows = "1,2.5,one,x,-7,1e3,two\r\n-12345678901,-.25,\"q,\nq\",\"\",2147483647,123456789.25,\n5,5,5,5,5,5,a text of more than sixteen bytes\n"

// What is behind data changes nothing, wherever it begins and ends.
func TestCSVStaysInside(t *testing.T) {
	forms := []CSVForm{{Delim: ','}, {Delim: ',', Open: true}, {Delim: ',', Plain: true}, {Delim: ',', Missing: "none"}}
	columns := [][2]int{{0, 7}} // all of csvSteps, and each alone
	for i := range 7 {
		columns = append(columns, [2]int{i, i + 1})
	}
	for k := range forms {
		forms[k].Powers = make([][2]uint64, 129)
		for n := 1; n <= len(csvRows); n++ {
			for from := -1; from < n; from = max(from+1, n-12) {
				for _, c := range columns {
					seen := map[[2]int]bool{}
					for _, behind := range []string{"\"\n", "\",", "9", ",", "\n", "e", ".", "none"} {
						data := append([]byte(csvRows[:n]), bytes.Repeat([]byte(behind), 12)...)
						rows, next := CSV(&forms[k], csvSteps(4)[c[0]:c[1]], data[:n], max(from, 0), 1, 4)
						require.True(t, next >= from && next <= n && rows >= 1, "%q: %d rows, %d", csvRows[max(from, 0):n], rows, next)
						seen[[2]int{rows, next}] = true
					}
					require.Len(t, seen, 1, "%q", csvRows[max(from, 0):n])
				}
			}
		}
	}
}

func TestCSVNeedsRoom(t *testing.T) {
	form := CSVForm{Delim: ',', Powers: make([][2]uint64, 129)}
	for i := range csvSteps(0) {
		steps := csvSteps(3)
		if steps[i].Op == CSVSkip {
			continue
		}
		steps[i].Numbers, steps[i].Ends = steps[i].Numbers[:11], steps[i].Ends[:2]
		require.Panics(t, func() { CSV(&form, steps, []byte(csvRows), 0, 0, 3) }, "%d", i)
	}
	steps := csvSteps(3)
	steps[2].Texts = steps[2].Texts[:18] // not enough for a text and what is written behind it
	rows, next := CSV(&form, steps, []byte(csvRows), 0, 0, 3)
	require.Equal(t, []int{0, 0}, []int{rows, next})
	for _, at := range []int{-1, len(csvRows), len(csvRows) + 1} {
		rows, next := CSV(&form, csvSteps(3), []byte(csvRows), at, 2, 3)
		require.Equal(t, []int{2, at}, []int{rows, next})
	}
	if len(Native()) > 0 {
		rows, next := CSV(&form, csvSteps(3), []byte(csvRows), 0, 0, 3)
		require.Equal(t, []int{1, 24}, []int{rows, next}, "an empty text between quotes is left")
	}
}
