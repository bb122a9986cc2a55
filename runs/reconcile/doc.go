// Package reconcile closes differences between the database and Temporal: runs and calls whose workflows
// were terminated, timed out or do not exist, workflows whose runs a restored database has lost, and
// documents whose ingestion has stopped.
//
// A [Reconciler] checks one run on request, or, as the leader elected by a lease in the database, all of
// them every few seconds. It never guesses: it asks Temporal by the workflow's id, and each closure is a
// compare-and-set on the state seen before, so that concurrent or suspended reconcilers do nothing twice. An
// open workflow is left alone. See docs/decisions/0016-reconciler.md.
package reconcile
