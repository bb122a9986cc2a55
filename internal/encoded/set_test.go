package encoded_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/encoded"
)

const mark = "\x01"

// clean replaces what a set finds by a mark.
func clean(set *encoded.Set, text string) string {
	var out strings.Builder
	rest := 0
	for _, span := range set.Find([]byte(text)) {
		out.WriteString(text[rest:span.Start] + mark)
		rest = span.End
	}
	return out.String() + text[rest:]
}

// shows reports whether text has secret in it once the encoders of a chain are
// undone, in any of the ways that their forms can be read.
func shows(text, secret string, chain []encoder) bool {
	states := []string{text}
	for i := len(chain) - 1; i >= -1; i-- {
		for _, state := range states {
			if strings.Contains(state, secret) {
				return true
			}
		}
		if i < 0 {
			break
		}
		for _, state := range slices.Clone(states) {
			for _, decoded := range chain[i].decode(state) {
				if !slices.Contains(states, decoded) {
					states = append(states, decoded)
				}
			}
		}
	}
	return false
}

// A secret that went through any chain of encoders, alone or within other text,
// is found: no decoding of what is left shows it.
func TestSecretsAreFoundInAnyChainOfEncodings(t *testing.T) {
	t.Parallel()

	all := encoders()
	cases, kept := 0, 0
	for seed := range uint64(15_000) {
		r := rand.New(rand.NewPCG(13, seed))
		secret := password(r)
		set := encoded.NewSet(4, "another-secret", secret)
		chain := make([]encoder, 1+r.IntN(4))
		names := make([]string, len(chain))
		text, before, after := secret, pick(r, "", "a=", "see ", `{"k":"`, "x/",
			"Zm9v"), pick(r, "", "&b=1", ". Next", `"}`, "/y?", "0")
		within := r.IntN(len(chain) + 1) // Where the context comes in.
		for i := range chain {
			if i == within {
				text = before + text + after
			}
			chain[i] = all[r.IntN(len(all))]
			names[i] = chain[i].name
			text = chain[i].encode(r, text)
		}
		text = pick(r, "", "before ", "§ ") + text + pick(r, "", " after", "\n§")
		got := clean(set, text)
		cases++
		if !shows(text, secret, chain) {
			continue // The context joined a run of digits, so that nobody reads it back.
		}
		kept++
		require.False(t, shows(got, secret, chain), "seed %d: %q by %q is %q, cleaned %q", seed, secret, names, text, got)
		require.Contains(t, got, mark)
		require.Equal(t, strings.HasPrefix(text, "before "), strings.HasPrefix(got, "before "))
		require.Equal(t, strings.HasSuffix(text, " after"), strings.HasSuffix(got, " after"))
	}
	require.Greater(t, kept, 10_000, "of %d cases, so many hold the secret in a form that can be read back", cases)
}
