package builtins_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors/executortest"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// conforming are tools that run a built-in, each with its configuration and
// the arguments of its calls.
var conforming = map[string]struct {
	config, args string
	noKeys       bool // It has no place for an idempotency key.
	short        bool // Its answer is short, whatever the upstream says.
}{
	"http_request": {
		config: `{"builtin": "http_request", "auth": {"type": "header", "header": "X-API-KEY", "credentials_ref": "key"}}`,
		args:   `{"method": "POST", "url": "$URL/orders", "json": {"amount": 1.10}}`,
	},
	"web_search": {
		config: `{"builtin": "web_search", "api_key": "` + executortest.Secret + `", "endpoint": "$URL/search"}`,
		args:   `{"query": "crib"}`, noKeys: true, short: true,
	},
}

// Built-ins that carry a credential keep the contract of executors.
func TestConformance(t *testing.T) {
	t.Parallel()

	for key, c := range conforming {
		t.Run(key, func(t *testing.T) {
			t.Parallel()

			lacks := map[executortest.Behaviour]string{executortest.Panics: "no code of others runs in its process"}
			if c.short {
				lacks[executortest.Overflows] = "it cuts what is too long"
			}
			executortest.Run(t, executortest.Harness{
				New: func(t *testing.T, b executortest.Behaviour) executortest.Subject {
					t.Helper()
					s := conformingSubject(t, key, c.config, c.args, b)
					if c.noKeys {
						s.Keys = nil
					}
					return s
				},
				Lacks: lacks,
			})
		})
	}
}

func conformingSubject(t *testing.T, key, config, args string, b executortest.Behaviour) executortest.Subject {
	t.Helper()
	upstream := executortest.NewUpstream(t, b)
	host := upstream.Start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !upstream.Fault(w, r) {
			behave(w, r, b)
		}
	}))
	gate, err := egress.New(egress.Config{
		Policy: func(tool.TenantID) egress.Policy { return egress.Policy{AllowHosts: []string{host}} },
	})
	require.NoError(t, err)
	t.Cleanup(gate.Close)
	run, ok := builtins.New(builtins.Config{Gate: gate, Secrets: secret.ResolverFunc(
		func(context.Context, tool.TenantID, string) (secret.Value, error) {
			return secret.NewValue(executortest.Secret, host), nil
		},
	)}).Lookup(key)
	require.True(t, ok)
	at := func(text string) json.RawMessage {
		return json.RawMessage(strings.ReplaceAll(text, "$URL", "http://"+host))
	}
	version := &tool.Version{Tenant: "t1", Slug: "own", Number: "1.0.0", Snapshot: tool.Snapshot{
		Definition: tool.Definition{Implementation: tool.Internal, Config: at(config)},
	}}
	return upstream.Subject(run, version, string(at(args)))
}

func behave(w http.ResponseWriter, r *http.Request, b executortest.Behaviour) {
	_, _ = io.Copy(io.Discard, r.Body)
	found := func(snippet string) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"organic": [{"title": "Crib", "link": "https://tools.example/", "snippet": %q}]}`, snippet)
	}
	quote := "you sent " + r.Header.Get("X-Api-Key")
	switch b {
	case executortest.Answers:
		found("Where tools are kept.")
	case executortest.SaysNo:
		http.Error(w, executortest.Reason, http.StatusUnprocessableEntity)
	case executortest.Overflows:
		found(strings.Repeat("x", 2*executortest.MaxBytes))
	case executortest.QuotesSecret:
		found(quote)
	case executortest.NoSecret:
		http.Error(w, quote, http.StatusBadRequest)
	case executortest.Refuses, executortest.Saturated, executortest.Fails, executortest.BreaksOff, executortest.Hangs,
		executortest.Unreachable, executortest.Panics: // Of every protocol.
	}
}
