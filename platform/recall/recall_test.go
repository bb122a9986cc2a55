package recall_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/recall"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMeasure(t *testing.T) {
	t.Parallel()

	questions, err := recall.Read([]byte(`
questions:
  - {ask: first, kind: words, in: {document: a}}
  - {ask: fourth, kind: words, in: {document: b, heading: Deep}}
  - {ask: sixth, kind: rare, in: {document: a}}
  - {ask: never, kind: rare, in: {document: a, heading: Nowhere}}
`))
	require.NoError(t, err)
	other := recall.Found{Document: "b", Headings: []string{"Top"}}
	answers := map[string][]recall.Found{
		"first":  {{Document: "a"}},
		"fourth": {other, other, other, {Document: "b", Headings: []string{"Top", "Deep"}}},
		"sixth":  {other, other, other, other, other, {Document: "a"}},
		"never":  {{Document: "a", Headings: []string{"Top"}}},
	}
	got, err := recall.Measure(t.Context(), questions, func(_ context.Context, ask string) ([]recall.Found, error) {
		return answers[ask], nil
	})
	require.NoError(t, err)
	require.InDelta(t, 0.5, got.Recall, 1e-9)
	require.InDelta(t, (1+1.0/4+1.0/6)/4, got.MRR, 1e-9)
	require.Equal(t, map[string]float64{"words": 1, "rare": 0}, got.ByKind)
	require.Equal(t, []string{"sixth", "never"}, got.Missed)

	broken := errors.New("broken")
	_, err = recall.Measure(t.Context(), questions, func(context.Context, string) ([]recall.Found, error) {
		return nil, broken
	})
	require.ErrorIs(t, err, broken)
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"", "questions: []", "questions: x", "questions: [{ask: x}]", `questions: [{ask: " ", in: {document: a}}]`,
		"questions: [{ask: x, in: {doc: a}}]", "{",
	} {
		_, err := recall.Read([]byte(text))
		require.Equal(t, tool.Invalid, tool.KindOf(err), "%q: %v", text, err)
	}
}
