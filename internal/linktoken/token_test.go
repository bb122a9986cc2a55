package linktoken_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/linktoken"
	"github.com/toolcrib/toolcrib/tool"
)

const kind linktoken.Kind = "tcx_"

// A token is 256 random bits with the ids of its tenant and record, and is read from nothing else.
func TestTokens(t *testing.T) {
	t.Parallel()

	tenant, id := tool.TenantID(uuid.NewString()), uuid.NewString()
	one, err := kind.New(tenant, id)
	require.NoError(t, err)
	two, err := kind.New(tenant, id)
	require.NoError(t, err)
	require.NotEqual(t, one.Text(), two.Text())
	require.NotEqual(t, one.Hash(), two.Hash())
	read, ok := kind.Read(one.Text())
	require.True(t, ok)
	require.Equal(t, one, read)
	require.Equal(t, one.Hash(), read.Hash())
	require.Equal(t, tenant, read.Tenant)
	require.Equal(t, id, read.ID)
	require.Len(t, read.Hash(), 32)
	text := one.Text()
	require.NotContains(t, text, string(tenant))
	for _, bad := range []string{
		"", string(kind), text[4:], text[1:], "tcy_" + text[4:], text + "A", text[:len(text)-1], text[:80],
		text[:20] + "\n" + text[21:], text + "\n", text[:90] + "\n", string(kind) + text, text[:10] + "=" + text[11:],
	} {
		_, ok := kind.Read(bad)
		require.False(t, ok, bad)
	}
	for _, ids := range [][2]string{{"", id}, {"acme", id}, {string(tenant), "x"}, {string(tenant), ""}} {
		_, err = kind.New(tool.TenantID(ids[0]), ids[1])
		require.Equal(t, tool.Invalid, tool.KindOf(err), ids)
	}
}

// Neither prints nor logs of a token, nor its JSON, have its secret.
func TestTokensAreNotPrinted(t *testing.T) {
	t.Parallel()

	token, err := kind.New(tool.TenantID(uuid.NewString()), uuid.NewString())
	require.NoError(t, err)
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token.Text(), string(kind)))
	require.NoError(t, err)
	secret := raw[len(raw)-32:]
	var printed strings.Builder
	logger := slog.New(slog.NewTextHandler(&printed, nil))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x"} {
		fmt.Fprintf(&printed, verb+"\n", token)
		fmt.Fprintf(&printed, verb+"\n", &token)
	}
	logger.Info("made", slog.Any("token", token))
	slog.New(slog.NewJSONHandler(&printed, nil)).Info("made", slog.Any("token", token))
	written, err := json.Marshal(token)
	require.NoError(t, err)
	printed.Write(written)
	require.Contains(t, printed.String(), string(kind)+"…")
	for _, shown := range []string{
		token.Text(), fmt.Sprint(secret)[1:20], hex.EncodeToString(secret), fmt.Sprintf("%#v", secret)[8:30],
	} {
		require.NotContains(t, printed.String(), shown)
	}
}
