// Package embed turns texts into vectors, by any endpoint that speaks the
// embeddings protocol of OpenAI's API.
//
// An endpoint is what a tenant says it is: requests leave through the guard of
// package egress, under the tenant's policy, and a credential goes to the hosts
// that it is bound to. Nothing here retries: who calls does.
package embed
