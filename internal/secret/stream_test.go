package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
)

// A secret that is cut between pieces, in any encoding, does not show once the
// pieces are put together, and nothing else is lost.
func TestStreamsFindSecretsAcrossPieces(t *testing.T) {
	t.Parallel()

	percent := func(s string) string {
		var out strings.Builder
		for i := range len(s) {
			fmt.Fprintf(&out, "%%%02x", s[i])
		}
		return out.String()
	}
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(17, seed))
		const s = `k9&"planted/se cret\\x`
		forms := []string{
			s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s), percent(s), url.QueryEscape(percent(s)),
			hex.EncodeToString([]byte(s)), base64.StdEncoding.EncodeToString([]byte("user:" + s)),
			base64.StdEncoding.EncodeToString([]byte(percent(s))), strings.ReplaceAll(s, "e", `\u0065`),
		}
		form := forms[r.IntN(len(forms))]
		text := "The first words, " + form + " and the last."
		stream := secret.NewStream(secret.NewRedactor(secret.NewValue(s), secret.NewValue("another-one")))
		var got, pieces []string
		for rest := text; rest != ""; {
			n := min(len(rest), 1+r.IntN(12))
			pieces = append(pieces, rest[:n])
			got = append(got, stream.Next(rest[:n]))
			rest = rest[n:]
		}
		got = append(got, stream.Rest())
		all := strings.Join(got, "")
		require.True(t, strings.HasPrefix(all, "The first words, "), "%q of %q", all, pieces)
		require.True(t, strings.HasSuffix(all, " and the last."), "%q of %q", all, pieces)
		shown := strings.TrimSuffix(strings.TrimPrefix(all, "The first words, "), " and the last.")
		require.Contains(t, shown, secret.Redacted)
		left := strings.ReplaceAll(shown, secret.Redacted, "")
		require.LessOrEqual(t, len(left), len(form)/5, "%q shows %q of %q", pieces, left, form)
	}
}

// What cannot be a secret is shown at once.
func TestStreamsDoNotKeepBackOrdinaryText(t *testing.T) {
	t.Parallel()

	stream := secret.NewStream(secret.NewRedactor(secret.NewValue("k9-planted-secret")))
	for _, piece := range []string{"10 pieces\n", "of 100% & more", "\\", "x"} {
		require.Equal(t, piece, stream.Next(piece))
	}
	require.Empty(t, stream.Next("k9-plan"))
	require.Equal(t, "k9-planz", stream.Next("z"))
	require.Empty(t, stream.Rest())
	require.Empty(t, stream.Next("k9-"))
	require.Equal(t, "k9-", stream.Rest())
}
