// Package redact hides what looks like a secret in what is shown to people, and
// puts it back where that is sent again: by the names of members, headers and
// parameters ([SensitiveKey]), by the forms that URLs, data source names and
// credentials are written in ([Text]), at any depth ([JSON]).
//
// It knows no secret. Those that are known are removed by secret.Redactor.
// The package is pure.
package redact
