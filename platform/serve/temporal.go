package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	sdklog "go.temporal.io/sdk/log"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/tool"
)

// TemporalOptions reads the connection settings as Temporal's own tools do:
// from TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE and their like, and from a
// configuration file. A nil environment is that of the process.
func TemporalOptions(env envconfig.EnvLookup, log *slog.Logger) (client.Options, error) {
	opts, err := envconfig.LoadClientOptions(envconfig.LoadClientOptionsRequest{EnvLookup: env})
	if err != nil {
		return client.Options{}, &tool.Error{
			Kind: tool.Invalid, Op: "serve", Msg: "Temporal's configuration: " + err.Error(), Err: err,
		}
	}
	opts.Logger = sdklog.NewStructuredLogger(slog.New(redact.Handler(log.Handler())))
	return opts, nil
}

// DialTemporal connects to Temporal. It fails with tool.Unavailable if no
// server answers at the address, and with tool.NotFound if the namespace is
// missing; the error names the one or the other.
func DialTemporal(ctx context.Context, opts client.Options) (client.Client, error) {
	const op = "serve.DialTemporal"
	address := cmp.Or(opts.HostPort, client.DefaultHostPort)
	c, err := client.DialContext(ctx, opts)
	if err != nil {
		return nil, &tool.Error{
			Kind: tool.Unavailable, Op: op, Err: err,
			Msg: fmt.Sprintf("Temporal at %s does not respond; set TEMPORAL_ADDRESS, or run toolcrib dev", address),
		}
	}
	namespace := cmp.Or(opts.Namespace, client.DefaultNamespace)
	_, err = c.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: namespace})
	if _, missing := errors.AsType[*serviceerror.NamespaceNotFound](err); missing { // Other errors appear on first use.
		c.Close()
		return nil, &tool.Error{Kind: tool.NotFound, Op: op, Err: err, Msg: fmt.Sprintf(
			"Temporal at %s has no namespace %q; create it with: temporal operator namespace create --namespace %s --address %s",
			address, namespace, namespace, address)}
	}
	return c, nil
}
