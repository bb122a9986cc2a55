// Package compose says how a composition ended: the result that its caller gets, with the
// outcome of every step. Package graph has the definition of compositions, and computes
// arguments and outputs. It is pure.
package compose
