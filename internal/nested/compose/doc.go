// Package compose parses compositions: tools that call other tools in sequence, each with
// arguments bound to the arguments of the call and the results of earlier steps. It
// computes arguments and outputs, and reports the outcomes of the steps; it is pure, and
// makes no calls.
//
// A binding is any JSON value in which {"$from": "/steps/order/result/total"}
// is replaced by the value at the JSON Pointer, whole and typed. Nothing is
// interpolated, so the result of a step stays data wherever it is used.
package compose
