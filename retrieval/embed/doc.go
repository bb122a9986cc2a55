// Package embed converts texts to vectors, by any endpoint with the embeddings protocol of OpenAI's
// API.
//
// Endpoints are configured by tenants: requests pass the guard of package egress, under the tenant's
// policy, and a credential is sent only to the hosts it is bound to. The package does not retry; the
// caller does.
package embed
