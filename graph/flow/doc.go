// Package flow is what a run of a graph does next, as a state machine over the graph's shape:
// a state and what happened give the next steps and a new state. It is pure: it does no I/O,
// knows no clock, and nothing of the content of nodes, which package graph evaluates.
//
// Two drivers take the steps, as for agents (package loop): the workflow, and an activity that
// takes as many as one process can. The state that one returns is where the other continues.
package flow
