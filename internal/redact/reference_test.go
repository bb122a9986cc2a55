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
		`{"auth":{"type":"bearer","credentials_ref":"orders"}}`:                                         `{"auth":{"type":"bearer","credentials_ref":"orders"}}`,
		`{"auth":{"type":"header","name":"X-Key","credentials_ref":"orders/key"}}`:                      `{"auth":{"type":"header","name":"X-Key","credentials_ref":"orders/key"}}`,
		`{"auth":{"type":"basic","user":"ada","value":"lovelace-1815","credentials_ref":"a"}}`:          `{"auth":{"type":"basic","user":"[redacted]","value":"[redacted]","credentials_ref":"a"}}`,
		`{"auth":{"type":"bearer","token":"s3cr3t"}}`:                                                   `{"auth":"[redacted]"}`,
		`{"auth":{"type":"bearer","credentials_ref":""}}`:                                               `{"auth":"[redacted]"}`,
		`{"auth":{"credentials_ref":{"type":"s3cr3t"}}}`:                                                `{"auth":"[redacted]"}`,
		`{"auth":{"type":["s3cr3t"],"credentials_ref":"a"}}`:                                            `{"auth":{"type":"[redacted]","credentials_ref":"a"}}`,
		`{"auth":{"type":"header","header":"X-Api-Key","credentials_ref":"o"}}`:                         `{"auth":{"type":"header","header":"X-Api-Key","credentials_ref":"o"}}`,
		`{"auth":{"header":"X-Api-Key: s3cr3t-4711-x","credentials_ref":"o"}}`:                          `{"auth":{"header":"X-Api-Key: [redacted]","credentials_ref":"o"}}`,
		`{"auth":{"credentials_ref":"o","token_url":"https://ada:lovelace@x/t"}}`:                       `{"auth":{"credentials_ref":"o","token_url":"https://ada:[redacted]@x/t"}}`,
		`{"auth":{"credentials_ref":"o","scopes":["orders.read"],"audience":"x","client_auth":"body"}}`: `{"auth":{"credentials_ref":"o","scopes":["orders.read"],"audience":"x","client_auth":"body"}}`,
		`{"auth":{"credentials_ref":"o","scopes":[{"a":"s3cr3t"}]}}`:                                    `{"auth":{"credentials_ref":"o","scopes":"[redacted]"}}`,
		`{"auth":"s3cr3t"}`: `{"auth":"[redacted]"}`,
	} {
		shown := redact.JSON(json.RawMessage(raw))
		require.JSONEq(t, want, string(shown), raw)
		require.JSONEq(t, raw, string(redact.Restore(shown, json.RawMessage(raw))), "sent back, it is what it was")
	}
}
