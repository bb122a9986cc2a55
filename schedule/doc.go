// Package schedule is the vocabulary of schedules: agents that are run at certain times. It says
// what a schedule is, checks it, and declares how schedules are stored.
//
// The record of a schedule is in PostgreSQL; Temporal has a schedule of its own for each, and is
// the clock. Package runs/scheduler keeps the two equal, and starts the runs. This package knows
// neither.
package schedule
