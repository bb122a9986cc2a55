// Package promptcall runs tools that are a prompt, put to a model directly: the
// arguments are filled into a text, a model is asked once, without tools, and
// what it says is the answer.
//
// Prompts that are given to an agent, as they are or as a skill, are runs of
// that agent and none of this package's.
package promptcall
