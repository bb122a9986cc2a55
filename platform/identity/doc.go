// Package identity verifies tokens of OpenID Connect issuers that an operator configured, and maps
// their claims to a tenant and to roles. It fetches nothing but the issuers' own documents and keys,
// through package egress, and knows no store: whether the tenant exists is decided by its caller.
package identity
