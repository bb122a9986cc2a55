// Package secret opens credentials by reference and keeps them out of output.
//
// A [Value] never prints: every conversion to text gives [Redacted]. It has the hosts it may
// be sent to, which package egress enforces. A [Redactor] removes opened values, however they
// are encoded, from results, and a [Stream] from text that arrives in pieces; [SensitiveKey]
// and [RedactKeys] hide members of a configuration by their names.
//
// The package knows neither HTTP nor the database.
package secret

import "github.com/toolcrib/toolcrib/tool"

// Redacted is the mark in place of a secret.
const Redacted = tool.Redacted
