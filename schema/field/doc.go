// Package field is the form of a tool: what a person fills in, made of the JSON
// Schema that an agent is given, and the other way round.
//
// A [Field] has one of twelve types and one of the type's displays. Whatever
// standard keywords can say of it is said by them; the rest stands in one
// keyword, [Keyword], which validators and models pass over. The schema is the
// one source of truth: fields are written into it once, and read out of it
// wherever a form is wanted.
//
// [Read] takes any schema. What fields cannot say is kept as it is, as a field
// that a person fills in as JSON, and reported by JSON Pointer; so a schema that
// is read and written again accepts what it accepted. The package is pure.
package field
