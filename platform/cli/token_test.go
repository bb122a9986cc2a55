package cli_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/identity"
	"github.com/toolcrib/toolcrib/platform/identity/identitytest"
	"github.com/toolcrib/toolcrib/platform/serve"
)

// Commands act for a person by a token in the place of a key.
func TestCommandsByToken(t *testing.T) {
	t.Parallel()
	issuer := identitytest.New(t)
	issuers, err := identity.New(identity.Config{Issuers: []identity.IssuerConfig{{
		Name: "corp", URL: issuer.URL, Audiences: []string{identitytest.Audience}, TenantClaim: "tenant",
		Roles: map[string][]string{"eng": {"builder"}},
	}}})
	require.NoError(t, err)
	t.Cleanup(issuers.Close)
	s := setup(t, func(c *serve.HandlerConfig) { c.Issuers = issuers })
	admin := s.vars[cli.KeyVariable]
	delete(s.vars, cli.KeyVariable)
	claims := map[string]any{"tenant": string(s.tenant), "groups": []string{"eng"}}
	s.vars[cli.TokenVariable] = issuer.Token("ec", claims)
	s.ok(t, "apply", "-f", s.write(t, "t.yaml",
		"slug: getOrder\ndescription: Echoes.\nimplementation_type: internal\nversion: 1.0.0\npublish: true\n"))
	require.Contains(t, s.ok(t, "tool", "list"), "getOrder")
	lacking := s.run(t, "audit", "list")
	require.Equal(t, cli.ExitDenied, lacking.code)
	require.Contains(t, lacking.err, "audit.read")

	claims["exp"] = time.Now().Add(-time.Hour).Unix()
	s.vars[cli.TokenVariable] = issuer.Token("ec", claims)
	expired := s.run(t, "tool", "list")
	require.Equal(t, cli.ExitDenied, expired.code)
	require.Contains(t, expired.err, "it has expired")

	delete(s.vars, cli.TokenVariable)
	s.vars[cli.KeyVariable] = admin
	require.Contains(t, s.ok(t, "audit", "list"), "user:corp/ada")
	require.Regexp(t, `user:corp/ada +builder`, s.ok(t, "key", "people"))
}
