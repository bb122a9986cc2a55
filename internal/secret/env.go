package secret

import (
	"context"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// EnvPrefix is the prefix of environment variables with secrets.
const EnvPrefix = "TOOLCRIB_SECRET_"

const (
	tenantSeparator = "__"
	hostsSuffix     = "_HOSTS"
)

// Env opens secrets from environment variables. The secret "orders-api" of tenant 0198… is
// TOOLCRIB_SECRET_0198…__ORDERS_API, or, for all tenants, TOOLCRIB_SECRET_ORDERS_API; names
// are in upper case with underscores for dots and dashes. The variable with the suffix
// _HOSTS lists the hosts it may be sent to, separated by commas.
type Env struct {
	// Lookup finds a variable. Defaults to [os.LookupEnv].
	Lookup func(name string) (string, bool)
}

// Resolve implements [Resolver].
func (e Env) Resolve(_ context.Context, tenant tool.TenantID, ref string) (Value, error) {
	if err := checkNames(tenant, ref); err != nil {
		return Value{}, err
	}
	name := envName(ref)
	// A reference to another tenant's variable, or to a list of hosts, is not a secret
	// of this tenant.
	if strings.Contains(name, tenantSeparator) || strings.HasSuffix(name, hostsSuffix) {
		return Value{}, notFound(ref)
	}
	lookup := e.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	names := []string{EnvPrefix + name}
	if tenant != "" {
		names = []string{EnvPrefix + envName(string(tenant)) + tenantSeparator + name, names[0]}
	}
	for _, n := range names {
		if text, ok := lookup(n); ok && text != "" {
			hosts, _ := lookup(n + hostsSuffix)
			return NewValue(text, strings.Split(hosts, ",")...), nil
		}
	}
	return Value{}, notFound(ref)
}

func envName(s string) string {
	return strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(s))
}
