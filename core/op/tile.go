package op

import "infeed/core/block"

// tileValues is how many values loops make at a time: few enough for the tiles of a
// group to stay in the first level cache, many enough to make calls cheap.
const tileValues = 2048

// loop makes d of up to three operands, value by value; operands that an operation
// does not have are empty. All are of the same number of values.
type loop func(d, a, b, c []byte)

// source says where a tile of an operand comes from.
type source struct {
	kind  sourceKind
	value int     // fromMemory, fromBroadcast
	at    int64   // fromTile, fromBroadcast: where the tile is in run.tiles
	size  int64   // of a value in bytes
	fill  []byte  // fromConst: a tile of the value
	view  strided // fromBroadcast
}

type sourceKind uint8

const (
	fromNowhere sourceKind = iota
	fromMemory
	fromTile
	fromConst
	fromBroadcast
)

// instruction is a loop of a group.
type instruction struct {
	loop    loop
	d       source
	in      [3]source
	inCount int
}

// group is loops that run together, tile by tile.
type group struct {
	code  []instruction
	loads []source // broadcasts, made before the instructions
	items int64    // in a row
}

func (g *group) run(r *run, rows int64) {
	n := rows * g.items
	for from := int64(0); from < n; from += tileValues {
		to := min(n, from+tileValues)
		for i := range g.loads {
			l := &g.loads[i]
			l.view.copy(r.tiles[l.at:l.at+(to-from)*l.size], r.now[l.value].Data, from)
		}
		for i := range g.code {
			c := &g.code[i]
			var in [3][]byte
			for k := range c.inCount {
				in[k] = c.in[k].tile(r, from, to)
			}
			c.loop(c.d.tile(r, from, to), in[0], in[1], in[2])
		}
	}
}

func (s *source) tile(r *run, from, to int64) []byte {
	switch s.kind {
	case fromMemory:
		return r.now[s.value].Data[from*s.size : to*s.size]
	case fromConst:
		return s.fill[:(to-from)*s.size]
	}
	return r.tiles[s.at : s.at+(to-from)*s.size]
}

// grouper writes the code of a group.
type grouper struct {
	*planner
	g      *group
	tiles  map[int]int64 // of values that are in tiles: where
	loaded map[int]source
	left   map[int]int // how often the values in tiles are still read
	free   map[int64][]int64
	used   int64
}

// writeGroup writes the loops among the nodes from from (included) to to (excluded).
func (pl *planner) writeGroup(from, to int) {
	g := &grouper{planner: pl, g: &group{}, tiles: map[int]int64{}, loaded: map[int]source{}, left: map[int]int{}, free: map[int64][]int64{}}
	nodes, bounds := pl.seg.nodes[from:to], pl.bounds[from:to]
	for i, n := range nodes {
		if bounds[i].loop != nil {
			for _, v := range n.In {
				g.left[v]++
			}
		}
	}
	for i, n := range nodes {
		if bounds[i].loop != nil {
			g.write(n, bounds[i])
		}
	}
	pl.tiles = max(pl.tiles, g.used)
	pl.steps = append(pl.steps, g.g.run)
}

func (g *grouper) write(n *node, b *binding) {
	out := b.out[0]
	g.g.items = out.Count()
	c := instruction{loop: b.loop, inCount: len(n.In)}
	for k, v := range n.In {
		c.in[k] = g.operand(v, out.Shape)
	}
	for _, v := range n.In {
		if g.left[v]--; g.left[v] == 0 && g.places[v].kind == inTile {
			size := g.values[v].DType.Size
			g.free[size] = append(g.free[size], g.tiles[v])
		}
	}
	size := out.DType.Size
	if g.places[n.out].kind != inTile {
		c.d = source{kind: fromMemory, value: n.out, size: size}
	} else {
		c.d = source{kind: fromTile, at: g.newTile(size), size: size}
		g.tiles[n.out] = c.d.at
	}
	g.g.code = append(g.g.code, c)
}

// newTile finds room for a tile. A loop may write where it reads, since it reads a
// value before it writes it.
func (g *grouper) newTile(size int64) int64 {
	if free := g.free[size]; len(free) > 0 {
		g.free[size] = free[:len(free)-1]
		return free[len(free)-1]
	}
	at := g.used
	g.used += block.AlignUp(tileValues * size)
	return at
}

// operand returns where a loop that makes values of the given shape reads value v.
func (g *grouper) operand(v int, shape []int64) source {
	size, w, c := g.values[v].DType.Size, g.places[v], g.values[v]
	if w.kind == inTile {
		return source{kind: fromTile, at: g.tiles[v], size: size}
	}
	uniform, root := false, v
	for g.places[root].kind == inView {
		root = g.places[root].of
	}
	uniform = g.places[root].kind == inConst
	if uniform && c.Count() == 1 {
		fill := make([]byte, 0, tileValues*size)
		for range tileValues {
			fill = append(fill, g.places[root].column.Data[:size]...)
		}
		return source{kind: fromConst, size: size, fill: fill}
	}
	view := broadcast(c.Shape, shape, uniform)
	if view.whole() {
		return source{kind: fromMemory, value: v, size: size}
	}
	if s, ok := g.loaded[v]; ok {
		return s
	}
	view.size = size
	s := source{kind: fromBroadcast, value: v, at: g.used, size: size, view: view}
	g.used += block.AlignUp(tileValues * size)
	g.loaded[v] = s
	g.g.loads = append(g.g.loads, s)
	return s
}
