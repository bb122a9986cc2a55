// Package secret opens credentials by reference and keeps them out of sight.
//
// A [Value] never prints: every way Go has to turn a value into text gives
// [Redacted]. It carries the hosts it may be sent to, which package egress
// enforces. A [Redactor] removes opened values, however they are encoded, from
// what a tool answered, and a [Stream] from what comes in pieces; [SensitiveKey] and [RedactKeys] hide
// members of a configuration by their names.
//
// The package knows neither HTTP nor the database.
package secret

import "github.com/toolcrib/toolcrib/tool"

// Redacted stands where a secret stood.
const Redacted = tool.Redacted
