// Package binding reads and evaluates bindings: JSON values in which {"$from": POINTER} is
// replaced by the value that the JSON Pointer leads to, whole and with its type. "$default"
// beside it stands in where there is nothing, and {"$literal": …} is not looked into.
// Nothing is put into texts, so what a step answered is data wherever it goes.
//
// Compositions and graphs bind with it. It is pure; a [Binding] is safe for concurrent use.
package binding
