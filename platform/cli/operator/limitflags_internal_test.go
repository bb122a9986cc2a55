package operator

import (
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/serve"
)

// A flag wins over its variable; what is no limit is an error that names where
// it was read.
func TestLimitFlags(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		args []string
		env  map[string]string
		want serve.HandlerConfig
		fail string
	}{
		"None": {},
		"Flags": {
			args: []string{"--max-requests", "7", "--max-tenant-requests", "5", "--max-unfinished-runs", "3"},
			want: serve.HandlerConfig{MaxRequests: 7, MaxTenantRequests: 5, MaxUnfinishedRuns: 3},
		},
		"Queues": {
			args: []string{"--max-queued-runs", "9", "--max-queue-seconds", "60"},
			env:  map[string]string{"TOOLCRIB_MAX_TENANT_QUEUED_RUNS": "4"},
			want: serve.HandlerConfig{MaxQueuedRuns: 9, MaxTenantQueuedRuns: 4, MaxQueueAge: time.Minute},
		},
		"Variable": {
			env: map[string]string{"TOOLCRIB_MAX_UNFINISHED_RUNS": "9"}, want: serve.HandlerConfig{MaxUnfinishedRuns: 9},
		},
		"FlagWins": {
			args: []string{"--max-requests", "7"}, env: map[string]string{"TOOLCRIB_MAX_REQUESTS": "none"},
			want: serve.HandlerConfig{MaxRequests: 7},
		},
		"Origins": {
			args: []string{"--allow-origin", "https://a.example.com", "--allow-origin", "https://b.example.com"},
			want: serve.HandlerConfig{AllowedOrigins: []string{"https://a.example.com", "https://b.example.com"}},
		},
		"OriginsVariable": {
			env:  map[string]string{"TOOLCRIB_ALLOW_ORIGINS": "https://a.example.com,https://b.example.com"},
			want: serve.HandlerConfig{AllowedOrigins: []string{"https://a.example.com", "https://b.example.com"}},
		},
		"NoNumber": {
			env: map[string]string{"TOOLCRIB_MAX_REQUESTS": "many"}, fail: `TOOLCRIB_MAX_REQUESTS "many" is not a number`,
		},
		"Negative": {args: []string{"--max-requests", "-1"}, fail: "--max-requests -1 is out of range"},
		"Large": {
			env: map[string]string{"TOOLCRIB_MAX_REQUESTS": "2000000"}, fail: "TOOLCRIB_MAX_REQUESTS 2000000 is out of range",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f limitFlags
			cmd := &cobra.Command{}
			f.register(cmd)
			require.NoError(t, cmd.ParseFlags(tt.args))
			var got serve.HandlerConfig
			err := f.apply(&got, func(name string) string { return tt.env[name] })
			if tt.fail != "" {
				require.ErrorContains(t, err, tt.fail)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}
