// Package policy decides whether a call may run: at once, after a person
// agreed, or not at all. It says why.
//
// There is one engine for every source of restriction: the tool's egress
// class, its approval flag, its permission policy, the permission it requires,
// and the profile it is used under. The strictest wins, so that nothing added
// can ever lower a decision. The package is pure.
package policy
