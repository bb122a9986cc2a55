package operator

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/runs"
)

// limitFlags bound what a server accepts, and from which pages.
type limitFlags struct {
	requests, tenantRequests, unfinished, queued, tenantQueued, queueAge int

	origins, codecOrigins []string
}

// originsVariable names the origins, separated by commas, where the flag does not.
const originsVariable = "TOOLCRIB_ALLOW_ORIGINS"

// codecOriginsVariable names the origins of the Temporal UI, separated by commas, where the flag
// does not.
const codecOriginsVariable = "TOOLCRIB_CODEC_ORIGINS"

// maxLimit is the largest value of a limit.
const maxLimit = 1_000_000

type limitFlag struct {
	name, variable, usage string
	value                 *int
	standard              int
}

func (f *limitFlags) all() []limitFlag {
	return []limitFlag{
		{
			"max-requests", "TOOLCRIB_MAX_REQUESTS", "requests that are served at once; others get 503", &f.requests,
			api.DefaultMaxRequests,
		},
		{
			"max-tenant-requests", "TOOLCRIB_MAX_TENANT_REQUESTS",
			"requests of one tenant that are served at once; others get 429", &f.tenantRequests, api.DefaultMaxTenantRequests,
		},
		{
			"max-unfinished-runs", "TOOLCRIB_MAX_UNFINISHED_RUNS", "pending and running runs of one tenant; others get 429",
			&f.unfinished, runs.DefaultMaxUnfinished,
		},
		{
			"max-queued-runs", "TOOLCRIB_MAX_QUEUED_RUNS", "runs of all tenants that have not begun; others get 503", &f.queued,
			runs.DefaultMaxQueued,
		},
		{
			"max-tenant-queued-runs", "TOOLCRIB_MAX_TENANT_QUEUED_RUNS",
			"runs of one tenant that have not begun; others get 429", &f.tenantQueued, runs.DefaultMaxTenantQueued,
		},
		{
			"max-queue-seconds", "TOOLCRIB_MAX_QUEUE_SECONDS",
			"how long a hundred or more runs of one tenant may wait to begin; others get 429", &f.queueAge,
			int(runs.DefaultMaxQueueAge / time.Second),
		},
	}
}

func (f *limitFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.origins, "allow-origin", nil,
		"origin of pages that may call the API from a browser, such as https://app.example.com; repeatable ("+
			originsVariable+")")
	cmd.Flags().StringSliceVar(&f.codecOrigins, "codec-origin", nil,
		"origin of the Temporal UI, such as https://temporal.example.com, whose pages may have payloads decrypted; "+
			"repeatable ("+codecOriginsVariable+")")
	for _, l := range f.all() {
		cmd.Flags().IntVar(l.value, l.name, 0, fmt.Sprintf("%s (default %d; %s)", l.usage, l.standard, l.variable))
	}
}

// apply puts the limits into a configuration.
func (f *limitFlags) apply(config *serve.HandlerConfig, getenv func(string) string) error {
	for _, l := range f.all() {
		where := "--" + l.name
		if text := getenv(l.variable); *l.value == 0 && text != "" {
			n, err := strconv.Atoi(text)
			if err != nil {
				return cli.Usagef("%s %q is not a number", l.variable, text)
			}
			*l.value, where = n, l.variable
		}
		if *l.value < 0 || *l.value > maxLimit {
			return cli.Usagef("%s %d is out of range: expected 1 to %d", where, *l.value, maxLimit)
		}
	}
	config.AllowedOrigins = f.origins
	if text := getenv(originsVariable); len(f.origins) == 0 && text != "" {
		config.AllowedOrigins = strings.Split(text, ",")
	}
	config.CodecOrigins = f.codecOrigins
	if text := getenv(codecOriginsVariable); len(f.codecOrigins) == 0 && text != "" {
		config.CodecOrigins = strings.Split(text, ",")
	}
	config.MaxRequests, config.MaxTenantRequests, config.MaxUnfinishedRuns = f.requests, f.tenantRequests, f.unfinished
	config.MaxQueuedRuns, config.MaxTenantQueuedRuns = f.queued, f.tenantQueued
	config.MaxQueueAge = time.Duration(f.queueAge) * time.Second
	return nil
}
