package redact_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/redact"
)

// Which credential is meant, and how it is sent, is no secret: values alone are.
func TestReferencesToCredentialsAreShown(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]string{
		`{"auth":{"type":"bearer","credentials_ref":"orders"}}`:                                `{"auth":{"type":"bearer","credentials_ref":"orders"}}`,
		`{"auth":{"type":"header","name":"X-Key","credentials_ref":"orders/key"}}`:             `{"auth":{"type":"header","name":"X-Key","credentials_ref":"orders/key"}}`,
		`{"auth":{"type":"basic","user":"ada","value":"lovelace-1815","credentials_ref":"a"}}`: `{"auth":{"type":"basic","user":"[redacted]","value":"[redacted]","credentials_ref":"a"}}`,
		`{"auth":{"type":"bearer","token":"s3cr3t"}}`:                                          `{"auth":"[redacted]"}`,
		`{"auth":{"type":"bearer","credentials_ref":""}}`:                                      `{"auth":"[redacted]"}`,
		`{"auth":{"credentials_ref":{"type":"s3cr3t"}}}`:                                       `{"auth":"[redacted]"}`,
		`{"auth":{"type":["s3cr3t"],"credentials_ref":"a"}}`:                                   `{"auth":{"type":"[redacted]","credentials_ref":"a"}}`,
		`{"auth":"s3cr3t"}`: `{"auth":"[redacted]"}`,
	} {
		shown := redact.JSON(json.RawMessage(raw))
		require.JSONEq(t, want, string(shown), raw)
		require.JSONEq(t, raw, string(redact.Restore(shown, json.RawMessage(raw))), "sent back, it is what it was")
	}
}
