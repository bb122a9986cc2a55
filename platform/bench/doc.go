// Package bench measures Toolcrib against the floor under it: the same work
// written by hand on the same Temporal server and the same PostgreSQL, in the
// same run.
//
//	err := bench.Run(ctx, bench.Config{Out: os.Stdout, Progress: os.Stderr})
//
// Machines differ and are shared, so that only ratios are worth keeping. The
// contestants of a figure take turns, round by round, and the medians of the
// rounds are compared. Every round checks that its work was done: answers are
// compared, rows are counted, and the history says which lane a call took. A
// benchmark that did nothing fails; one that is slow does not.
//
// Each file beside the machinery holds one benchmark.
package bench
