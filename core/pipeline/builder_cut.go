package pipeline

import (
	"bytes"
	"encoding/json"
	"sort"

	"infeed/core/errs"
)

// cut divides arguments at the values.
func (p *part) cut(args json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, "definition", "the arguments of %s", p.op)
	}
	c := cutter{}
	if err := c.write(tree); err != nil {
		return err
	}
	p.pieces, p.holes = append(c.pieces, c.now), c.holes
	return nil
}

// cutter writes JSON in pieces.
type cutter struct {
	pieces [][]byte
	holes  []hole
	now    []byte
}

func (c *cutter) write(tree any) error {
	switch t := tree.(type) {
	case map[string]any:
		for name, value := range t {
			if k, ok := value.(json.Number); ok && len(t) == 1 && (name == "$value" || name == "$const" || name == "$bytes") {
				return c.hole(k, name)
			}
		}
		return c.object(t)
	case []any:
		c.now = append(c.now, '[')
		for i, x := range t {
			if i > 0 {
				c.now = append(c.now, ',')
			}
			if err := c.write(x); err != nil {
				return err
			}
		}
		c.now = append(c.now, ']')
		return nil
	}
	b, err := json.Marshal(tree)
	c.now = append(c.now, b...)
	return err
}

func (c *cutter) hole(k json.Number, kind string) error {
	n, err := k.Int64()
	if err != nil || n < 0 || n > 1<<20 {
		return errs.New(errs.InvalidArgument, "definition", "value %s", k)
	}
	c.pieces, c.holes, c.now = append(c.pieces, c.now), append(c.holes, hole{int(n), kind}), nil
	return nil
}

// object writes an object. Templates in it have values of their own.
func (c *cutter) object(t map[string]any) error {
	keys := make([]string, 0, len(t))
	for k := range t {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		name, err := json.Marshal(k)
		if err != nil {
			return err
		}
		c.now = append(append(append(c.now, sep), name...), ':')
		if k == "template" {
			b, err := json.Marshal(t[k])
			if err != nil {
				return err
			}
			c.now = append(c.now, b...)
		} else if err := c.write(t[k]); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		c.now = append(c.now, '{')
	}
	c.now = append(c.now, '}')
	return nil
}
