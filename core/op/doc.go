// Package op runs programs of element operations: what a function given to map was
// traced to.
//
// Terms. A program is a list of nodes in the order in which they can be run. A node
// is an operation with operands, attributes and results; operands and results are
// values, each with a dtype and a shape. Values are counted from the components of
// the element on, which are 0, 1, ..., followed by the results of the nodes. Values
// are of one element; the program is run on all rows of a block at once.
//
// In JSON:
//
//	{"nodes": [{"op": "const", "attrs": {"dtype": "<f4", "shape": [], "data": base64}},
//	           {"op": "cast", "in": [0], "attrs": {"dtype": "<f4"}},
//	           {"op": "multiply", "in": [3, 2]}],
//	 "outputs": [4, 1], "structure": structure}
//
// A constant of text has the dtype "|O8" and "texts": [base64, ...] for data; one
// with dimensions of -1 and no data stands for those of a template, which can only be
// asked for its spec. The structure is as spec.Structure reads it and has one leaf for each output.
//
// Operations of one value a value (elementwise) need operands of one dtype, so that
// promotion is the business of whoever writes the program; "cast" converts. Shapes
// are broadcast as NumPy does. What an operation gives is what NumPy gives, for
// overflow, division by zero and NaN too.
//
// Dimensions of -1 differ between elements. A program finds where its values lie
// once for the shapes of a block, and keeps that as a plan.
//
// Three kinds of operations are known by name. Loops (loops.go) make values from the
// values at the same place; they are run together, in tiles that fit in the first
// level cache. Steps (step.go) make whole rows. A [function] may fail at a row, have
// many results, and results whose shapes differ between rows; it is what parsers are
// made of. Each is bound to its attributes and operands when a program is parsed, by
// a [binder] in the table binders.
package op
