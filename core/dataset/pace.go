package dataset

// Pace returns how many elements to ask for at once when the last ones, limit of them, had so
// many bytes: about as many as have want bytes, and most at most. It changes slowly, as sizes do.
func Pace(limit, bytes, want, most int64) int64 {
	switch {
	case bytes > 2*want && limit > 1:
		return limit / 2
	case bytes < want && limit < most:
		return min(2*limit, most)
	}
	return limit
}
