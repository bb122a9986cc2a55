package operator

import (
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/serve"
)

// temporalFlags say how Temporal is reached. What they leave out is read from the
// environment and Temporal's configuration file, as its own tools do.
type temporalFlags struct {
	address, namespace, apiKeyFile string
	tls                            bool
	cert, key, ca, serverName      string
}

func (f *temporalFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	for _, l := range []struct {
		into        *string
		name, usage string
	}{
		{&f.address, "temporal-address", "host:port of Temporal (default 127.0.0.1:7233; TEMPORAL_ADDRESS)"},
		{&f.namespace, "temporal-namespace", "namespace of Temporal (default default; TEMPORAL_NAMESPACE)"},
		{
			&f.apiKeyFile, "temporal-api-key-file",
			"file with the API key for Temporal (TEMPORAL_API_KEY_FILE; TEMPORAL_API_KEY holds it itself)",
		},
		{&f.cert, "temporal-tls-client-cert-path", "client certificate for Temporal, in PEM (TEMPORAL_TLS_CLIENT_CERT_PATH)"},
		{&f.key, "temporal-tls-client-key-path", "its private key, in PEM (TEMPORAL_TLS_CLIENT_KEY_PATH)"},
		{
			&f.ca, "temporal-tls-server-ca-cert-path",
			"certificates that sign Temporal's, in PEM (default: the system's; TEMPORAL_TLS_SERVER_CA_CERT_PATH)",
		},
		{
			&f.serverName, "temporal-tls-server-name",
			"name in Temporal's certificate, if it is not that of the address (TEMPORAL_TLS_SERVER_NAME)",
		},
	} {
		flags.StringVar(l.into, l.name, "", l.usage)
	}
	flags.BoolVar(&f.tls, "temporal-tls", false,
		"reach Temporal by TLS; implied by a certificate or an API key (TEMPORAL_TLS)")
}

// options returns the options of a client of Temporal.
func (f *temporalFlags) options(environ []string, log *slog.Logger) (client.Options, error) {
	env := cli.Environment(append([]string(nil), environ...))
	for name, text := range map[string]string{
		"TEMPORAL_ADDRESS": f.address, "TEMPORAL_NAMESPACE": f.namespace,
		"TEMPORAL_TLS_CLIENT_CERT_PATH": f.cert, "TEMPORAL_TLS_CLIENT_KEY_PATH": f.key,
		"TEMPORAL_TLS_SERVER_CA_CERT_PATH": f.ca, "TEMPORAL_TLS_SERVER_NAME": f.serverName,
	} {
		if text != "" {
			env = append(env, name+"="+text)
		}
	}
	if f.tls {
		env = append(env, "TEMPORAL_TLS=true")
	}
	file := f.apiKeyFile
	if file == "" {
		file, _ = env.LookupEnv("TEMPORAL_API_KEY_FILE")
	}
	if file != "" {
		raw, err := os.ReadFile(file) //nolint:gosec // The operator's.
		if err != nil {
			return client.Options{}, cli.Usagef("--temporal-api-key-file: %v", err)
		}
		key := strings.TrimSpace(string(raw))
		if key == "" {
			return client.Options{}, cli.Usagef("--temporal-api-key-file: %s is empty", file)
		}
		env = append(env, "TEMPORAL_API_KEY="+key)
	}
	return serve.TemporalOptions(env, log)
}
