// Package input is what an agent asks a person for: a request for input, the form that it
// becomes, and the answer. It is pure.
//
// A request is the arguments of a call of a tool of type input. The call waits as one that is
// answered from outside does, and its answer comes from the page behind a link. See
// checklist S0-122…S0-128 and S0-139.
package input
