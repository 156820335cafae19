package transform

import "sync"

// eachPart calls f for each run of index that lies in one part of size numbers;
// from and to are places in index. f may change what lies between them.
func eachPart(index []int64, size int64, f func(part, from, to int64) error) error {
	for from := 0; from < len(index); {
		part := index[from] / size
		first := part * size
		to := from + 1
		for to < len(index) && index[to] >= first && index[to]-first < size {
			to++
		}
		if err := f(part, int64(from), int64(to)); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// recent makes values by number and remembers the last few. Workers are on
// neighbouring numbers, so few are enough.
type recent[T any] struct {
	make func(int64) T
	mu   struct {
		sync.Mutex
		numbers [8]int64 // 1 more than the number; 0 none
		values  [8]T
		next    int
	}
}

func newRecent[T any](make func(int64) T) *recent[T] { return &recent[T]{make: make} }

func (r *recent[T]) get(number int64) T {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, n := range r.mu.numbers {
		if n == number+1 {
			return r.mu.values[i]
		}
	}
	v := r.make(number)
	r.mu.numbers[r.mu.next], r.mu.values[r.mu.next] = number+1, v
	r.mu.next = (r.mu.next + 1) % len(r.mu.numbers)
	return v
}
