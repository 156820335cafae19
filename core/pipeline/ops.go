package pipeline

// ops makes an operation by its name in JSON.
var ops = merged(sourceOps, transformOps, functionOps, snapshotOps)

func merged(parts ...map[string]func() Op) map[string]func() Op {
	out := map[string]func() Op{}
	for _, part := range parts {
		for name, make := range part {
			out[name] = make
		}
	}
	return out
}

// onOne is for operations on one dataset.
type onOne struct{}

func (onOne) inputs() int { return 1 }

func python(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
