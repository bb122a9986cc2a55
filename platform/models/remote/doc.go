// Package remote implements what all models with an HTTP API have in common: the
// connection and the key, the classification of failures, and the projection of
// transcripts, tool schemas and model options.
//
// A provider's package, such as openai, turns a request into its SDK's types
// and its answer back. It sends through an [Exchange] of this package, which
// is created for one request of one tenant and sends it through the guard of
// package egress. Nothing here retries: Temporal does.
package remote
