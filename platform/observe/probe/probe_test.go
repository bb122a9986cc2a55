package probe_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/observe/probe"
)

const planted = "tc-planted-address-6c2e"

// A check says what it found and for how long it has been so, and a crowd that
// asks makes it look once.
func TestReadyTellsStateAndAge(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var looks atomic.Int64
		var down atomic.Bool
		p := probe.New(
			probe.Check{Name: "database", Fault: "not answering", Look: func(context.Context) error {
				looks.Add(1)
				if down.Load() {
					return errors.New("dialing " + planted)
				}
				return nil
			}},
			probe.Check{Name: "temporal", Fault: "not answering", Look: func(context.Context) error { return nil }},
		)
		for range 100 {
			require.Equal(t, "ok", p.Ready(t.Context()).Status)
		}
		require.EqualValues(t, 1, looks.Load())

		time.Sleep(5 * time.Second)
		health := p.Ready(t.Context())
		require.InDelta(t, 5, health.Checks["database"].AgeS, 0)
		down.Store(true)
		time.Sleep(5 * time.Second)
		health = p.Ready(t.Context())
		require.Equal(t, v1.Health{Status: "unavailable", Checks: map[string]v1.Check{
			"database": {State: "not answering"}, "temporal": {State: "ok", AgeS: 10},
		}}, health)
	})
}

// A check that hangs ends, and one whose caller has left is made all the same.
func TestReadyIsBounded(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		leave()
		p := probe.New(
			probe.Check{Name: "slow", Fault: "not answering", Look: func(ctx context.Context) error {
				<-ctx.Done()
				return ctx.Err()
			}},
			probe.Check{Name: "well", Fault: "not answering", Look: func(ctx context.Context) error { return ctx.Err() }},
		)
		health := p.Ready(ctx)
		require.Equal(t, "not answering", health.Checks["slow"].State)
		require.Equal(t, "ok", health.Checks["well"].State)
	})
}

func TestEndpointsTellNoSecrets(t *testing.T) {
	t.Parallel()

	mux := http.NewServeMux()
	probe.New(probe.Check{Name: "database", Fault: "not answering", Look: func(context.Context) error {
		return errors.New(planted)
	}}).Register(mux)
	for path, status := range map[string]int{"/healthz": http.StatusOK, "/readyz": http.StatusServiceUnavailable} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		require.Equal(t, status, w.Code, path)
		require.NotContains(t, w.Body.String(), planted)
		var health v1.Health
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &health))
	}
}
