// Package redact hides likely secrets in output for people, and restores them when that
// output is sent back: by the names of members, headers and parameters ([SensitiveKey]), by
// the forms of URLs, data source names and credentials ([Text]), at any depth ([JSON]).
//
// It does not know actual secrets; package secret's Redactor removes those. The package is
// pure.
package redact
