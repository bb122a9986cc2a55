package operator

import (
	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/identity"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
)

// identityFlags say whose tokens a server accepts, and what each key may send.
type identityFlags struct {
	issuers string
	limits  store.Limits
}

func (f *identityFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.issuers, "oidc-issuers", "",
		"YAML file of OpenID Connect issuers whose tokens are accepted beside API keys")
	flags.IntVar(&f.limits.RequestsPerSecond, "key-requests-per-second", 0,
		"requests a second of each key without a limit of its own; others get 429 (default none)")
	flags.IntVar(&f.limits.Burst, "key-burst", 0, "how many of them at once (default those of a second)")
	flags.Int64Var(&f.limits.BytesPerMinute, "key-bytes-per-minute", 0,
		"size of the requests of each key without a limit of its own, and of their answers (default none)")
}

// apply puts the flags into a configuration. The caller calls close.
func (f *identityFlags) apply(config *serve.HandlerConfig) (stop func(), err error) {
	if err := f.limits.Check(); err != nil {
		return nil, cli.Usagef("--key-requests-per-second, --key-burst, --key-bytes-per-minute: %w", err)
	}
	config.KeyLimits = f.limits
	if f.issuers == "" {
		return func() {}, nil
	}
	issuers, err := identity.ReadFile(f.issuers)
	if err != nil {
		return nil, cli.Usagef("--oidc-issuers: %w", err)
	}
	if config.Issuers, err = identity.New(identity.Config{Issuers: issuers}); err != nil {
		return nil, cli.Usagef("--oidc-issuers %s: %w", f.issuers, err)
	}
	return config.Issuers.Close, nil
}
