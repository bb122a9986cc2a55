package strict_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/tool"
)

type common struct {
	Type string `json:"type,omitempty"`
}

type step struct {
	ID    string         `json:"id"`
	Retry *bool          `json:"retry,omitempty"`
	Free  map[string]any `json:"free,omitempty"`
}

type odd string

func (o *odd) UnmarshalText(text []byte) error {
	if string(text) == "odd" {
		return errOdd
	}
	*o = odd(text)
	return nil
}

var errOdd = errors.New("it is odd")

type config struct {
	common

	Steps   []step            `json:"steps,omitempty"`
	By      map[string]step   `json:"by,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Limit   int               `json:"limit,omitempty"`
	Score   float64           `json:"score,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	When    time.Time         `json:"when,omitzero"`
	Odd     odd               `json:"odd,omitempty"`
	private string
}

func TestDecode(t *testing.T) {
	t.Parallel()
	var c config
	require.NoError(t, strict.Decode("test", []byte(` {"type":"x","steps":[{"id":"a","retry":true,"free":{"any":[1]}}],
		"by":{"b":{"id":"b"}},"limit":3,"score":1.5,"raw":{"kept":1},"when":"2026-01-02T03:04:05Z","odd":"even","labels":null}
	`), &c))
	require.Equal(t, "x", c.Type)
	require.Equal(t, "b", c.By["b"].ID)
	require.Equal(t, odd("even"), c.Odd)
	require.JSONEq(t, `{"kept":1}`, string(c.Raw))
	require.Empty(t, c.private)
	require.ErrorIs(t, strict.Decode("test", []byte(" \n"), &c), io.EOF)
}

// Each fault has the pointer of its place, and says what was expected.
func TestFaults(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`[]`:                                 `expected an object, got an array`,
		`"a"`:                                `expected an object, got a string`,
		`{"limit":1} {}`:                     `more than one JSON value`,
		`{"limit":`:                          `malformed JSON: unexpected EOF`,
		`{"limmit":1}`:                       `/limmit: unknown field "limmit": did you mean limit?`,
		`{"Limit":1}`:                        `/Limit: unknown field "Limit": did you mean limit?`,
		`{"private":"x"}`:                    `/private: unknown field "private": expected one of by, labels, limit, odd, raw, score, steps, type, when`,
		`{"limit":"3"}`:                      `/limit: expected a whole number, got a string`,
		`{"limit":1.5}`:                      `/limit: expected a whole number, got the number 1.5`,
		`{"type":7}`:                         `/type: expected a string, got a number: put it in quotes`,
		`{"steps":{}}`:                       `/steps: expected an array, got an object`,
		`{"steps":[{"id":"a"},{"id":true}]}`: `/steps/1/id: expected a string, got true or false: put it in quotes`,
		`{"steps":[{"retry":"yes"}]}`:        `/steps/0/retry: expected true or false, got a string`,
		`{"steps":[{"retri":true}]}`:         `/steps/0/retri: unknown field "retri": did you mean retry?`,
		`{"by":{"a/b":{"x":1}}}`:             `/by/a~1b/x: unknown field "x": expected one of free, id, retry`,
		`{"labels":{"a":1}}`:                 `/labels/a: expected a string, got a number: put it in quotes`,
		`{"odd":"odd"}`:                      `/odd: it is odd`,
	} {
		err := strict.Decode("test", []byte(raw), &config{})
		require.Equal(t, tool.Invalid, tool.KindOf(err), raw)
		e := tool.AsError(err)
		require.Equal(t, want, strings.TrimPrefix(e.Path+": "+e.Msg, ": "), raw)
	}
	require.ErrorIs(t, strict.Decode("test", []byte(`{"odd":"odd"}`), &config{}), errOdd)
}
