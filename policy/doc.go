// Package policy decides whether a call may run: at once, after an approval, or not at all, and gives
// the reasons.
//
// There is one engine for every source of restriction: the tool's egress class, its approval flag, its
// permission policy, its required permission, its profiles, and the taint of the run. The strictest
// wins, so that another source can never weaken a decision. The package is pure.
package policy
