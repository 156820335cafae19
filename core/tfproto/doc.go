// Package tfproto reads the protocol buffers of TensorFlow that hold data:
// tf.train.Example, tf.train.SequenceExample and TensorProto.
//
// Terms. A [Feature] says what is wanted of examples: a key, a type and how many
// values. A [Parser] fills a [Column] for each feature from a run of serialized
// examples, in one go; a [SequenceParser] does so for sequence examples. [Tensor] is
// what a TensorProto holds.
//
// Values. Packed and unpacked lists are read, and mixed ones. Unknown fields are
// skipped. Of entries with the same key the last that holds anything wins, as for
// tf.io.parse_example. Memory is in proportion to the messages and to what features
// ask for, whatever lengths a message claims.
//
// Errors are of kind InvalidArgument and name the example by number, the feature,
// what it has and what was asked for.
package tfproto
