// Package promptcall runs prompts that are sent to a model directly: the arguments
// fill a template, a model is called once, without tools, and its answer is the
// result.
//
// Prompts of the modes agent and skill are agent runs, which workflows start.
package promptcall
