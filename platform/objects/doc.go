// Package objects keeps the contents of files in a store of objects with the interface of Amazon
// S3: that service, or one that an operator runs. It talks to the one endpoint that the operator
// names, through a guard of its own, and to no address that comes from a tenant.
package objects
