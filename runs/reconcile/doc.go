// Package reconcile closes what the record and Temporal disagree on: runs and
// calls whose workflows were terminated, timed out or are gone, workflows whose
// runs a restored database has lost, and documents that nothing ingests any
// more.
//
// A [Reconciler] looks at one run for a caller that asks, or, as the leader that
// a lease in the database elects, at all of them every few seconds. It never
// guesses: Temporal is asked by the workflow's id, and each closure is a
// compare-and-set on what was seen before, so that two reconcilers at once, or
// one that was asleep, do nothing twice. A workflow that is open is left alone.
// See docs/decisions/0016-reconciler.md.
package reconcile
