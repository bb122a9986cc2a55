// Package demo shows Toolcrib's main job from end to end: it brings the
// embedded stack up, publishes the tools and the agent of
// examples/support-desk, runs the agent over a customer's message, and checks
// how every tool call ended.
//
// It does so as anyone would: through the HTTP API, on the same assembly as
// the product's own commands. Only the model is scripted, so that it needs no
// key, no network and no luck: unless OPENAI_API_KEY or ANTHROPIC_API_KEY is
// set, or TOOLCRIB_DEMO_MODEL names a model. A live model is judged by what the
// platform made of its calls, not by which calls it made.
package demo
