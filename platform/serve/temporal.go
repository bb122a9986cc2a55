package serve

import (
	"context"
	"fmt"
	"log/slog"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/tool"
)

// TemporalOptions reads how Temporal is reached as Temporal's own tools do:
// from TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and their like, and from a
// configuration file. A nil environment is that of the process.
func TemporalOptions(env envconfig.EnvLookup, log *slog.Logger) (client.Options, error) {
	opts, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: env})
	if err != nil {
		return client.Options{}, &tool.Error{Kind: tool.Invalid, Op: "serve", Msg: "Temporal's configuration: " + err.Error(), Err: err}
	}
	opts.Logger = sdklog.NewStructuredLogger(log)
	return opts, nil
}

// DialTemporal connects to Temporal. It fails with tool.Unavailable, naming the
// address.
func DialTemporal(ctx context.Context, opts client.Options) (client.Client, error) {
	c, err := client.DialContext(ctx, opts)
	if err != nil {
		address := opts.HostPort
		if address == "" {
			address = client.DefaultHostPort
		}
		return nil, &tool.Error{
			Kind: tool.Unavailable, Op: "serve.DialTemporal", Err: err,
			Msg: fmt.Sprintf("Temporal at %s is not answering; set TEMPORAL_ADDRESS, or run toolcrib dev", address),
		}
	}
	return c, nil
}
