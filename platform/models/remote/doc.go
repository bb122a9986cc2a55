// Package remote holds what models behind a provider's HTTP API have in
// common: the way to the provider and the key for it, what its failures mean,
// and the shape that a transcript, a tool and the model options must have for
// any of them.
//
// A provider's package, such as openai, turns a request into its SDK's types
// and its answer back. It sends through an [Exchange] of this package, which
// is made for one request of one tenant and goes through the guard of package
// egress. Nothing here retries: Temporal does.
package remote
