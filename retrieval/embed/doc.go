// Package embed turns texts into vectors, with any endpoint that speaks the
// embeddings protocol of OpenAI's API.
//
// An endpoint is configured by a tenant: requests leave through the guard of
// package egress, under the tenant's policy, and a credential is sent only to
// the hosts that it is bound to. The package does not retry: the caller does.
package embed
