// Package desk holds the Go functions that the support-desk example offers to
// its agent as tools: what the shop decides by rule and what it keeps by
// itself, so that nothing of it is left to a model.
package desk
