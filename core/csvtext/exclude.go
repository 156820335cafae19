package csvtext

import (
	"slices"

	"infeed/core/errs"
)

// NewExcluding returns a format with these columns, which are the fields of rows but
// those with the indices in excluded. A row has no other fields; of the excluded ones
// behind the last column, it may lack some.
func NewExcluding(d Dialect, columns []Column, excluded []int) (*Format, error) {
	selected := make([]int, 0, len(columns))
	next := 0
	for ; len(selected) < len(columns); next++ {
		if !slices.Contains(excluded, next) {
			selected = append(selected, next)
		}
	}
	for i, x := range excluded {
		if x < 0 || x > maxField || i > 0 && x <= excluded[i-1] {
			return nil, errs.New(errs.InvalidArgument, "csv", "the excluded columns %v are not rising indices from 0 to %d", excluded, maxField)
		}
	}
	f, err := NewFormat(d, columns, selected)
	if err != nil {
		return nil, err
	}
	f.form.Open = false
	for slices.Contains(excluded, next) {
		next++
		f.spare++
	}
	return f, nil
}
