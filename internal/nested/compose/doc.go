// Package compose reads compositions: tools that call other tools, one after
// the other, each with arguments bound to what the call and the steps before
// it said. It computes arguments and outputs, and tells what became of the
// steps; it is pure, and calls nothing.
//
// A binding is any JSON value in which {"$from": "/steps/order/result/total"}
// is replaced by what the JSON Pointer leads to, whole and typed. Nothing is
// interpolated, so what a step answered is data wherever it goes.
package compose
