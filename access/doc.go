// Package access lists the permissions that endpoints require, and the built-in roles, which are
// sets of them. The API, the command line, the store and the documentation derive from these lists.
package access
