// Package visible removes from untrusted text the characters that are invisible
// to a person but not to a model: those that Unicode calls default-ignorable,
// bidirectional controls, interlinear annotations, private use and unassigned
// tags. Text with them can say one thing to the person who approves a tool and
// another to the model that calls it (Unicode Technical Standard #39, section
// 5.4, and Unicode Technical Report #36, section 2.5).
//
// It does no I/O.
package visible
