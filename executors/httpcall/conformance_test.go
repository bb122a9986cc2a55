package httpcall_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()

	for name, config := range conforming {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			executortest.Run(t, executortest.Harness{
				New: func(t *testing.T, b executortest.Behaviour) executortest.Subject {
					t.Helper()
					return conformingSubject(t, b, config)
				},
				Lacks: map[executortest.Behaviour]string{executortest.Panics: "no code of others runs in its process"},
			})
		})
	}
}

// conforming are configurations of one tool each, one for each way to send and
// to read.
var conforming = map[string]string{
	"json":      `"method": "POST", "url": "$URL/orders/{id}", "auth": {"type": "bearer", "credentials_ref": "key"}`,
	"form":      `"method": "POST", "url": "$URL/orders", "body_type": "form", "answer": "text", "auth": {"type": "query", "name": "key", "credentials_ref": "key"}`,
	"multipart": `"method": "PUT", "url": "$URL/orders", "body_type": "multipart", "body": {"id": {"from": "/id", "file_name": "x"}}, "answer": "text", "auth": {"type": "cookie", "name": "key", "credentials_ref": "key"}`,
	"raw":       `"method": "PATCH", "url": "$URL/orders", "body_type": "raw", "body": {"from": "/id", "content_type": "text/plain"}, "answer": "text", "auth": {"type": "header", "header": "X-Key", "credentials_ref": "key"}`,
	"token":     `"method": "POST", "url": "$URL/orders/{id}", "auth": {"type": "oauth2_client_credentials", "credentials_ref": "client", "token_url": "$URL/token"}`,
	"pages":     `"url": "$URL/orders", "query": {"id": {"from": "/id"}}, "auth": {"type": "bearer", "credentials_ref": "key"}, "pagination": {"type": "link", "items": "/pages"}`,
	"declared": `"method": "POST", "url": "$URL/orders", "auth": {"type": "bearer", "credentials_ref": "key"}, "result": {"answer": {"from": ""}},
		"errors": [{"status": "4xx", "where": "/gone", "kind": "not_found"}, {"where": "/errors", "kind": "answer_error"}]`,
}

func conformingSubject(t *testing.T, b executortest.Behaviour, config string) executortest.Subject {
	t.Helper()
	upstream := executortest.NewUpstream(t, b)
	host := upstream.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			_ = json.NewEncoder(w).Encode(map[string]string{"access_token": executortest.Secret})
			return
		}
		if !upstream.Fault(w, r) {
			behave(w, r, b)
		}
	}))
	gate, err := egress.New(egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: []string{host}} },
	})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	secrets := secret.Env{Lookup: func(name string) (string, bool) {
		if strings.HasSuffix(name, "_HOSTS") {
			return "127.0.0.1", true
		}
		if name == "TOOLCRIB_SECRET_CLIENT" {
			return "crib:s3cr3t-client", true
		}
		return executortest.Secret, name == "TOOLCRIB_SECRET_KEY"
	}}
	config = fmt.Sprintf(`{"max_bytes": %d, %s}`, executortest.MaxBytes,
		strings.ReplaceAll(config, "$URL", "http://"+host))
	version := &tool.Version{Slug: "order", Number: "1.0.0", Snapshot: tool.Snapshot{
		Definition: tool.Definition{Implementation: tool.HTTP, Config: json.RawMessage(config)},
	}}
	return upstream.Subject(httpcall.New(gate, secrets), version, `{"id": "o1", "amount": 1.10}`)
}

func behave(w http.ResponseWriter, r *http.Request, b executortest.Behaviour) {
	body, _ := io.ReadAll(r.Body)
	auth := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ") + r.Header.Get("X-Key") +
		strings.TrimPrefix(r.Header.Get("Cookie"), "key=") + r.URL.Query().Get("key")
	quote := auth + " " + hex.EncodeToString([]byte(auth)) + " " +
		base64.StdEncoding.EncodeToString([]byte("user:"+auth))
	w.Header().Set("Content-Type", "application/json")
	switch b {
	case executortest.Answers:
		_ = json.NewEncoder(w).Encode(map[string]any{"sent": string(body), "pages": []int{1}})
	case executortest.SaysNo:
		http.Error(w, executortest.Reason, http.StatusUnprocessableEntity)
	case executortest.Overflows:
		_, _ = io.WriteString(w, `"`+strings.Repeat("x", 2*executortest.MaxBytes)+`"`)
	case executortest.QuotesSecret:
		_ = json.NewEncoder(w).Encode(map[string]any{"you sent": quote, "pages": []string{quote}})
	case executortest.NoSecret:
		http.Error(w, "bad key "+quote, http.StatusBadRequest)
	case executortest.Refuses, executortest.Saturated, executortest.Fails, executortest.BreaksOff, executortest.Hangs,
		executortest.Unreachable, executortest.Panics: // Of every protocol.
	}
}
