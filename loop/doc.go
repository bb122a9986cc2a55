// Package loop decides what a run does next. It is the agent loop, the batches of its
// calls and the steps of compositions as state machines: a state and what happened
// give the next steps and a new state. It does no I/O, knows no clock and is not safe
// for concurrent use.
//
// Two drivers take the steps: the workflow (package workflows), and the in-place
// driver (package activities), which takes as many as one process can. The state that
// one returns is where the other continues.
package loop
