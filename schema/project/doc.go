// Package project writes tools' input schemas in the dialects of JSON Schema that model
// providers accept.
//
// Arguments are checked against the whole schema when they come, so a projection may accept
// more than its schema. What it cannot say at all is listed. The package is pure.
package project
