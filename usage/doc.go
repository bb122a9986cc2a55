// Package usage is the vocabulary of usage and costs: prices of calls and of tokens, usage reports, and
// amounts of money.
//
// Money is a whole number of millionths ([Micros]) of one currency, which is the one that the
// prices are in. The store computes what a call or a turn cost when it ends, from the price of
// that moment and from what was reported: there is no price here that a caller names.
package usage
