// Package graph is agent graphs: their definition and its checks, the conditions and bindings
// of their nodes, and what a run of one does next, as a state machine. It is pure: no I/O, no
// clock, and nothing of Temporal.
//
// A graph is the configuration of a tool of the type graph, so it has the tool's versions,
// schemas, policy and callers. Its nodes follow one another along edges without cycles;
// parallel, map and loop nodes have bodies, which are such sequences again. So every path
// joins where it parted, and nothing waits for what does not come.
//
// [Parse] reads a definition and reports every fault at once. [Machine] says which steps come
// next: what is to be evaluated, which calls and runs to make, how long to wait. [Graph]
// evaluates conditions and bindings on the outcomes of nodes ([Data]).
package graph
