package op

import "infeed/core/dataset"

// step makes out on rows rows. For text it sets out.Text, whose bytes it may share
// with operands.
type step func(at *chance, rows int64, in []operand, out *operand)

// chance is what the random numbers of a step depend on.
type chance = dataset.Chance
