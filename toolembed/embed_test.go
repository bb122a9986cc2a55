package toolembed_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/linktoken"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
)

// An origin is one that a browser would send, of https, or of this machine.
func TestCheckOrigin(t *testing.T) {
	t.Parallel()

	for _, good := range []string{
		"https://shop.example.com", "https://shop.example.com:8443", "https://xn--bcher-kva.example", "https://192.0.2.7",
		"https://[2001:db8::1]", "http://localhost:3000", "http://127.0.0.1:3000", "http://[::1]:3000", "https://intranet",
	} {
		require.NoError(t, toolembed.CheckOrigin(good), good)
	}
	for bad, says := range map[string]string{
		"":                                                 "1 to 255 bytes",
		"null":                                             "without an address",
		"*":                                                "wildcard",
		"https://*.example.com":                            "wildcard",
		"https://*":                                        "wildcard",
		"shop.example.com":                                 "no address",
		"//shop.example.com":                               "no address",
		"data:text/html,x":                                 "no address",
		"http://shop.example.com":                          "only pages of this machine",
		"http://localhost.example.com":                     "only pages of this machine",
		"http://127.0.0.1.example.com":                     "only pages of this machine",
		"ftp://shop.example.com":                           "not https",
		"https://shop.example.com/":                        "more than a scheme",
		"https://shop.example.com/a":                       "more than a scheme",
		"https://shop.example.com?a":                       "more than a scheme",
		"https://u:p@shop.example.com":                     "more than a scheme",
		"HTTPS://shop.example.com":                         "lower case",
		"https://Shop.example.com":                         "no host",
		"https://shop.example.com:443":                     "has anyway",
		"http://localhost:80":                              "has anyway",
		"https://shop.example.com:":                        "has anyway",
		"https://shop.example.com:0443":                    "no host",
		"https://shop.example.com.":                        "no host",
		"https://bücher.example":                           "xn--",
		"https://shop_1.example.com":                       "no host",
		"https://a.example;script-src":                     "no host",
		"https://a.example 'self'":                         "no address",
		"https://a.example,b.example":                      "no host",
		"https://a.example\nX: y":                          "no address",
		"https://" + strings.Repeat("a.", 130) + "example": "1 to 255 bytes",
	} {
		err := toolembed.CheckOrigin(bad)
		require.Equal(t, tool.Invalid, tool.KindOf(err), bad)
		require.Contains(t, err.Error(), says, bad)
		require.Equal(t, "/origin", tool.AsError(err).Path)
	}
}

func TestCallers(t *testing.T) {
	t.Parallel()

	for _, good := range []string{
		"customer-7", "ada@example.com", "auth0:1", "a", strings.Repeat("a", toolembed.MaxCaller),
	} {
		require.NoError(t, toolembed.CheckCaller(good), good)
	}
	for _, bad := range []string{"", " a", "a b", "é", "a\n", "-a", strings.Repeat("a", toolembed.MaxCaller+1)} {
		require.Equal(t, tool.Invalid, tool.KindOf(toolembed.CheckCaller(bad)), bad)
	}
	key := uuid.NewString()
	maker, ok := toolembed.Maker(toolembed.Subject(key, "a:b"))
	require.True(t, ok)
	require.Equal(t, "key:"+key, maker)
	for _, other := range []string{"", "key:" + key, "embed:", "embed:x:y", "embed:" + key, "user:embed:" + key + ":a"} {
		_, ok := toolembed.Maker(other)
		require.False(t, ok, other)
	}
}

// A token opens what it was made for, and no other kind of token does.
func TestTokens(t *testing.T) {
	t.Parallel()

	tenant, id := tool.TenantID(uuid.NewString()), uuid.NewString()
	made, err := toolembed.NewToken(tenant, id)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(made.Text(), "tce_"))
	read, ok := toolembed.ReadToken(made.Text())
	require.True(t, ok)
	require.Equal(t, made, read)
	for _, other := range []linktoken.Kind{"tcs_", "tcv_"} {
		foreign, err := other.New(tenant, id)
		require.NoError(t, err)
		_, ok = toolembed.ReadToken(foreign.Text())
		require.False(t, ok, other)
	}
}
