package executortest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func runSecrets(t *testing.T, h Harness) {
	t.Helper()

	for _, b := range []Behaviour{QuotesSecret, NoSecret} {
		t.Run(string(b), func(t *testing.T) {
			t.Parallel()

			s := h.subject(t, b)
			res, err := standard(s.Executor).Execute(t.Context(), s.Call("e1"))
			requireOne(t, res, err)
			shown := encode(t, res) + fmt.Sprint(err)
			for _, form := range []string{
				Secret, hex.EncodeToString([]byte(Secret)), base64.StdEncoding.EncodeToString([]byte(Secret)),
				url.QueryEscape(Secret),
			} {
				require.NotContains(t, shown, form)
			}
		})
	}
}

// runKeys checks that every attempt at an effect sends the effect's own key.
func runKeys(t *testing.T, h Harness) {
	t.Helper()

	s := h.subject(t, Answers)
	if s.Keys == nil {
		t.Skip("this type has no place for a key")
	}
	e := standard(s.Executor)
	var want []string
	for _, effect := range []string{"effect-a", "effect-b"} {
		for attempt := 1; attempt <= 3; attempt++ {
			call := s.Call(effect)
			call.Attempt = attempt
			_, err := e.Execute(t.Context(), call)
			require.NoError(t, err)
			want = append(want, effect)
		}
	}
	require.Equal(t, want, s.Keys())
}

// runConcurrency runs many calls at once; the race detector watches.
func runConcurrency(t *testing.T, h Harness) {
	t.Helper()

	const calls = 32
	s := h.subject(t, Answers)
	e := standard(s.Executor)
	var wg sync.WaitGroup
	errs := make([]error, calls)
	for i := range calls {
		call := s.Call("effect-" + strconv.Itoa(i))
		wg.Go(func() {
			res, err := e.Execute(t.Context(), call)
			if err == nil && res.IsError {
				err = fmt.Errorf("call %d: %v", i, res.Content)
			}
			errs[i] = err
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	if s.Keys != nil {
		keys := s.Keys()
		slices.Sort(keys)
		require.Len(t, slices.Compact(keys), calls, "each call has its own key")
	}
}

// runMemory checks that an executor neither changes a call nor retains its
// memory, which is overwritten while the result is still in use.
func runMemory(t *testing.T, h Harness) {
	t.Helper()

	s := h.subject(t, Answers)
	call := s.Call("e1")
	before, version := *call, *call.Version
	arguments := bytes.Clone(call.Arguments)

	res, err := s.Executor.Execute(t.Context(), call)
	require.NoError(t, err)
	require.Equal(t, before, *call, "a call is not changed")
	require.Equal(t, version, *call.Version, "a version is shared, and never changed")
	require.Equal(t, string(arguments), string(call.Arguments))

	want := encode(t, res)
	for i := range call.Arguments {
		call.Arguments[i] = 'x'
	}
	require.Equal(t, want, encode(t, res), "a result has memory of its own")
	again, err := s.Executor.Execute(t.Context(), s.Call("e2"))
	require.NoError(t, err)
	require.False(t, again.IsError)
}
