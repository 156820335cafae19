package pipeline

import (
	"fmt"
	"strings"

	"infeed/core/csvtext"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/source"
	"infeed/core/spec"
)

// Csv is the rows of CSV files.
type Csv struct {
	Files
	RecordDefaults []Default `json:"record_defaults"`
	Header         bool      `json:"header"`
	FieldDelim     string    `json:"field_delim"` // "": a comma
	UseQuoteDelim  bool      `json:"use_quote_delim"`
	NAValue        string    `json:"na_value"`
	SelectCols     []int     `json:"select_cols"`
	ExcludeCols    []int     `json:"exclude_cols"`
}

// Default describes a column and what it has where a row has nothing: the bytes of the
// value, or null where each row must have one.
type Default struct {
	DType   string `json:"dtype"` // NumPy's dtype.str
	Default []byte `json:"default"`
}

func (c *Csv) build([]dataset.Definition, int) (dataset.Definition, error) {
	f, err := c.files()
	if err != nil {
		return nil, err
	}
	out := source.CSV{Files: f, Selected: c.SelectCols, Excluded: c.ExcludeCols, Header: c.Header}
	out.Dialect = csvtext.Dialect{Plain: !c.UseQuoteDelim, Missing: c.NAValue}
	switch len(c.FieldDelim) {
	case 0:
	case 1:
		out.Dialect.Delim = c.FieldDelim[0]
	default:
		return nil, errs.New(errs.InvalidArgument, "CsvDataset", "field_delim is '%s'; it must be one byte", c.FieldDelim)
	}
	for _, d := range c.RecordDefaults {
		dtype, err := spec.ParseDType(d.DType)
		if err != nil {
			return nil, err
		}
		out.Columns = append(out.Columns, csvtext.Column{DType: dtype, Default: d.Default})
	}
	return source.Csv(out)
}

func (c *Csv) text() string {
	columns := make([]string, len(c.RecordDefaults))
	for i, d := range c.RecordDefaults {
		dtype, _ := spec.ParseDType(d.DType) // it was built before
		columns[i] = dtype.String()
		if d.Default == nil {
			columns[i] += " required"
		}
	}
	return fmt.Sprintf("CsvDataset(record_defaults=[%s], header=%s, field_delim=%q, use_quote_delim=%s, na_value=%q, select_cols=%s, exclude_cols=%s, compression_type=%q, errors=%q)",
		strings.Join(columns, ", "), python(c.Header), orDefault(c.FieldDelim, ","), python(c.UseQuoteDelim), c.NAValue,
		orNone(c.SelectCols), orNone(c.ExcludeCols), c.CompressionType, c.Errors)
}

func orDefault(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func orNone(indices []int) string {
	if indices == nil {
		return "None"
	}
	return fmt.Sprint(indices)
}
