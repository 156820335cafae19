package pipeline

// functionOps makes the operations whose functions return datasets.
var functionOps = map[string]func() Op{}
