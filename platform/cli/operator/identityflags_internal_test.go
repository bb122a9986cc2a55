package operator

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
)

// The file of issuers is read when a server starts, and what is wrong with it is said with its name.
func TestIdentityFlags(t *testing.T) {
	t.Parallel()
	const valid = `issuers:
  - name: corp
    url: https://login.example.com/realms/corp
    audiences: [toolcrib]
    tenant_claim: tenant
    tenants: [acme]
    roles_claim: /realm_access/roles
    roles:
      engineers: [builder]
    default_roles: [viewer]
    algorithms: [ES256]
    clock_skew: 10s
`
	for name, tt := range map[string]struct {
		file string
		args []string
		fail string
		want store.Limits
		urls []string
	}{
		"none": {},
		"limits": {
			args: []string{"--key-requests-per-second", "50", "--key-burst", "100", "--key-bytes-per-minute", "1000"},
			want: store.Limits{RequestsPerSecond: 50, Burst: 100, BytesPerMinute: 1000},
		},
		"a burst alone": {args: []string{"--key-burst", "5"}, fail: "a burst needs"},
		"negative":      {args: []string{"--key-bytes-per-minute", "-5"}, fail: "bytes a minute"},
		"issuers":       {file: valid, urls: []string{"https://login.example.com/realms/corp"}},
		"a wrong name":  {file: valid + "    groups: x\n", fail: "groups"},
		"no issuers":    {file: "issuers: []\n", fail: "lists no issuers"},
		"a large skew":  {file: strings.Replace(valid, "10s", "10h", 1), fail: "clock_skew"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f identityFlags
			cmd := &cobra.Command{}
			f.register(cmd)
			if tt.file != "" {
				path := filepath.Join(t.TempDir(), "issuers.yaml")
				require.NoError(t, os.WriteFile(path, []byte(tt.file), 0o600))
				tt.args = append(tt.args, "--oidc-issuers", path)
			}
			require.NoError(t, cmd.ParseFlags(tt.args))
			var config serve.HandlerConfig
			stop, err := f.apply(&config)
			if tt.fail != "" {
				require.ErrorContains(t, err, tt.fail)
				return
			}
			require.NoError(t, err)
			defer stop()
			require.Equal(t, tt.want, config.KeyLimits)
			if tt.urls == nil {
				require.Nil(t, config.Issuers)
				return
			}
			require.Equal(t, tt.urls, config.Issuers.URLs())
		})
	}
}
