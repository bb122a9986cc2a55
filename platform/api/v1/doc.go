// Package v1 defines what the HTTP API sends over the wire: the bodies of its
// requests and answers, and its problems.
//
// One rule says which types are here: a record that a path of the API names (a
// tool, an agent, a run, an invocation, a key) has a type of its own, made by a
// From… function, so that the store's record can change without the API. Values
// that stand in records and pass through the platform unchanged (results, content,
// messages, events and their payloads, policies, enumerations) are those of
// packages tool, agent and retrieval.
//
// Server and client share it, so it imports neither: only the vocabulary, the
// package that recognises secrets by their names, and the standard library.
// Until 1.0.0 bodies may change where that is better; then they only grow.
package v1
