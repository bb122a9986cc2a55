// Package agent defines the core types of agents: an agent, a model, a run, a
// message and a plan.
//
// It imports package tool and the standard library only.
package agent
