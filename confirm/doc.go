// Package confirm evaluates the conditions under which a call of a tool needs an approval, and
// the messages that ask for it. Both are expressions in CEL (https://cel.dev) over
//
//	input      the arguments of the call
//	principal  {subject: string, tenant: string, permissions: list(string)}
//
// They are checked when a tool is made. When a call is made, what cannot be evaluated, or
// costs too much, asks: a condition never lets a call pass by failing.
package confirm
