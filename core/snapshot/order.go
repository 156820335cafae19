package snapshot

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/vfs"
)

// order says where the elements of streams lie, in the order in which they were written.
// Chunks are in groups; those of the order are one for each.
type order struct {
	places *Reader // of the order
	groups []int   // number of the first chunk of each group, and behind the last one
	stream []int   // of each chunk
}

// largeRow is the size from which on elements are as well read one at a time.
const largeRow = 16 << 10

// dividedReader returns the elements of streams in the order in which they were written.
func dividedReader(fs vfs.FS, folder string, l *layout, infos []ChunkInfo) *Reader {
	o := &order{}
	var elements, places []ChunkInfo
	for _, c := range infos {
		if c.ordering() {
			o.groups = append(o.groups, len(elements))
			places = append(places, c)
			continue
		}
		elements, o.stream = append(elements, c), append(o.stream, c.stream())
	}
	// A group begins where the one before it ended.
	o.groups = append([]int{0}, o.groups...)
	o.places = plainReader(fs, folder, newLayout(orderSpec), places)
	r := plainReader(fs, folder, l, elements)
	r.order = o
	return r
}

// inOrder makes elements by their number in the order in which they were written.
func (r *Reader) inOrder(index []int64, dst dataset.Sink) error {
	if err := r.locateAll(index); err != nil {
		return err
	}
	if size, fixed := r.layout.bytes(); !fixed || size > largeRow || len(index) < 2 {
		return r.fetch(index, dst)
	}
	// Neighbours lie in different chunks: they are read chunk by chunk, and then put in order.
	b, rows := sorting.Get().(*sorted), make([]int64, len(index))
	defer sorting.Put(b)
	b.sort(index)
	for i, k := range b.by {
		index[i], rows[k] = b.numbers[k], int64(i)
	}
	b.elements.Reset()
	if err := r.fetch(index, &b.elements); err != nil {
		return err
	}
	out, err := dst.Block(r.layout.spec, int64(len(index)))
	if err != nil {
		return err
	}
	return out.Gather(0, b.elements.Blocks()[0], rows)
}

// sorted is numbers, and which of them is the first, the second, ...
type sorted struct {
	numbers  []int64
	by       []int
	elements block.Buffer
}

var sorting = sync.Pool{New: func() any { return new(sorted) }}

func (s *sorted) sort(numbers []int64) {
	s.numbers, s.by = append(s.numbers[:0], numbers...), s.by[:0]
	for i := range numbers {
		s.by = append(s.by, i)
	}
	slices.SortFunc(s.by, func(a, b int) int { return cmp.Compare(s.numbers[a], s.numbers[b]) })
}

// locateAll makes the numbers of elements in the order in which they were written those
// in the order of chunks.
func (r *Reader) locateAll(index []int64) error {
	o := r.order
	var places block.Buffer
	if err := o.places.fetch(index, &places); err != nil {
		return err
	}
	group := -1
	for i, n := range index {
		if group < 0 || n < o.places.start(group) || n >= o.places.ends[group] {
			group = sort.Search(len(o.places.ends), func(g int) bool { return o.places.ends[g] > n })
		}
		stream, row := placed(int64(le.Uint64(places.Blocks()[0].Columns[0].Data[8*i:])))
		from, to := o.groups[group], o.groups[group+1]
		chunk := from + sort.SearchInts(o.stream[from:to], stream)
		if chunk == to || o.stream[chunk] != stream || row >= r.infos[chunk].Elements {
			return lost(o.places.files.paths[group], headerBytes, "it says that element %d is number %d of stream %d, which is not there", n, row, stream)
		}
		index[i] = r.start(chunk) + row
	}
	return nil
}
