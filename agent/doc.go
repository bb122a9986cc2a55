// Package agent is the vocabulary of agents: what an agent, a model, a run, a
// message and a plan are.
//
// It stands on package tool and the standard library alone.
package agent
