// Package field converts between the form of a tool, which a person fills in, and the JSON Schema
// of its input.
//
// A [Field] has one of thirteen types and one of the type's displays. Standard keywords express it where
// they can; the rest is in one keyword, [Keyword], which validators and models ignore. The schema is
// the source of truth: fields are written into it, and read from it wherever a form is needed.
//
// [Read] accepts any schema. Parts that fields cannot express are kept unchanged, as a field that a
// person fills in as JSON, and reported by JSON Pointer; so a schema that is read and written again
// accepts the same values. The package is pure.
package field
