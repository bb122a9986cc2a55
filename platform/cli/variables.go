package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// servers are the commands that run where a variable is easier to set than a
// flag: each of their flags has one.
var servers = []string{"serve", "worker", "dev"}

// temporals are the flags whose variables are those of Temporal's own tools.
var temporals = map[string]string{
	"temporal-address": "TEMPORAL_ADDRESS", "temporal-namespace": "TEMPORAL_NAMESPACE",
	"temporal-api-key-file": "TEMPORAL_API_KEY_FILE", "temporal-tls": "TEMPORAL_TLS",
	"temporal-tls-client-cert-path":    "TEMPORAL_TLS_CLIENT_CERT_PATH",
	"temporal-tls-client-key-path":     "TEMPORAL_TLS_CLIENT_KEY_PATH",
	"temporal-tls-server-ca-cert-path": "TEMPORAL_TLS_SERVER_CA_CERT_PATH",
	"temporal-tls-server-name":         "TEMPORAL_TLS_SERVER_NAME",
	"deployment":                       "TEMPORAL_DEPLOYMENT_NAME", "build-id": "TEMPORAL_WORKER_BUILD_ID",
}

// variableOf returns the environment variable of a flag: TOOLCRIB_ALLOW_HOST of --allow-host.
func variableOf(flag string) string {
	if name := temporals[flag]; name != "" {
		return name
	}
	return "TOOLCRIB_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// nameVariables says in the help of servers which variable each flag has.
func nameVariables(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		if !slices.Contains(servers, cmd.Name()) {
			continue
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			name := variableOf(f.Name)
			if f.Name == "help" || strings.Contains(f.Usage, name) {
				return
			}
			if _, many := f.Value.(pflag.SliceValue); many {
				name += ", with commas between"
			}
			f.Usage += " (" + name + ")"
		})
	}
}

// applyVariables sets the flags of a server from environment variables, unless
// the flag is on the command line. Variables that a command reads itself have
// the same names.
func (a *App) applyVariables(cmd *cobra.Command) error {
	if !slices.Contains(servers, cmd.Name()) || cmd.Parent() != cmd.Root() {
		return nil
	}
	var failed error
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		text := a.Env.Getenv(variableOf(f.Name))
		if f.Changed || text == "" || failed != nil || f.Name == "help" {
			return
		}
		set := f.Value.Set
		if many, ok := f.Value.(pflag.SliceValue); ok {
			set = func(text string) error { return many.Replace(strings.Split(text, ",")) }
		}
		if err := set(text); err != nil {
			failed = Usagef("%s is %q, which --%s does not take: expected %s", variableOf(f.Name), text, f.Name,
				cmp.Or(valueOf(f), f.Value.Type()))
		}
	})
	return failed
}
