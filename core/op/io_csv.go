package op

import (
	"infeed/core/block"
	"infeed/core/csvtext"
	"infeed/core/errs"
	"infeed/core/spec"
)

// decode_csv makes of texts, each a row of CSV, a result for each column, of the
// operand's shape. Attributes: columns, each with its dtype and, unless values are
// required, a default; delim, one byte; plain, when quotes are characters like others;
// missing, what stands for no value; select, the fields of the columns if not all.
func init() { binders["decode_csv"] = bindDecodeCSV }

type decodeCSV struct {
	format *csvtext.Format
	dtypes []spec.DType
}

func bindDecodeCSV(n *node, in []spec.Component) (*binding, error) {
	var attrs struct {
		Columns []struct {
			DType   string  `json:"dtype"`
			Default *[]byte `json:"default"`
		} `json:"columns"`
		Delim   []byte `json:"delim"`
		Plain   bool   `json:"plain"`
		Missing []byte `json:"missing"`
		Select  []int  `json:"select"`
	}
	if err := n.attrs(&attrs); err != nil {
		return nil, err
	}
	if len(in) != 1 || !in[0].IsText() {
		return nil, n.refuse(in)
	}
	if len(attrs.Delim) != 1 {
		return nil, errs.New(errs.InvalidArgument, n.Op, "field_delim is %q; give one byte", attrs.Delim)
	}
	f, b := &decodeCSV{}, &binding{}
	var columns []csvtext.Column
	for _, c := range attrs.Columns {
		d, err := spec.ParseDType(c.DType)
		if err != nil {
			return nil, err
		}
		column := csvtext.Column{DType: d}
		if c.Default != nil {
			column.Default = append([]byte{}, *c.Default...)
		}
		columns, f.dtypes = append(columns, column), append(f.dtypes, d)
		b.out = append(b.out, spec.Component{DType: d, Shape: in[0].Shape})
	}
	var err error
	f.format, err = csvtext.NewFormat(csvtext.Dialect{Delim: attrs.Delim[0], Plain: attrs.Plain, Missing: string(attrs.Missing)}, columns, attrs.Select)
	b.function = f
	return b, err
}

// table is what decode_csv keeps for the next call: memory.
type table struct {
	parsed
	columns []csvtext.Values
}

func (f *decodeCSV) run(c *call) (int64, error) {
	p, _ := c.own.(*table)
	if p == nil {
		p = &table{columns: make([]csvtext.Values, len(f.dtypes))}
		p.texts = make([]block.Text, len(f.dtypes))
		c.own = p
	}
	for i, v := range p.columns {
		p.columns[i] = csvtext.Values{Data: v.Data[:0], Starts: v.Starts[:0], Ends: v.Ends[:0]}
	}
	o, rows := &c.in[0], c.rows
	in := p.messages(o, rows)
	n, bad := f.format.ParseRecords(in.Data, in.Starts, in.Ends, p.columns)
	var err error
	if bad != nil {
		rows, err = int64(n)/o.Count(), f.wrong(bad, int64(n), o)
	}
	if rows == 0 {
		return 0, err
	}
	for i, d := range f.dtypes {
		v, component := p.columns[i], spec.Component{DType: d, Shape: o.Shape}
		if !component.IsText() {
			c.giveBytes(i, component, rows, v.Data)
			continue
		}
		used := rows * o.Count()
		p.texts[i] = block.Text{Data: v.Data, Starts: v.Starts[:used], Ends: v.Ends[:used]}
		c.results[i].operand = operand{Component: component, Column: block.Column{Text: &p.texts[i]}}
	}
	return rows, err
}

// wrong is the error about record n, which has the number in a message that it has
// among those of its element.
func (f *decodeCSV) wrong(bad *csvtext.Fault, n int64, o *operand) error {
	if len(o.Shape) == 0 {
		return errs.New(errs.InvalidArgument, "decode_csv", "%s", bad.Text)
	}
	return errs.New(errs.InvalidArgument, "decode_csv", "record %d: %s", n%o.Count(), bad.Text)
}
