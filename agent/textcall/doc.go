// Package textcall reads the tool calls that a model wrote as text, and shows tools,
// calls and answers as text to models that have no tool calls of their own.
//
// A call is a JSON object with the name of an offered tool and an object of arguments. It
// may be in a code fence, in a tag such as <tool_call>, or stand alone on its lines. What
// could also be something else is no call: an example, a definition, data, a quotation, a
// thought. See [Find] for the rules.
//
// The package is pure. Its work is linear in the length of the text.
package textcall
