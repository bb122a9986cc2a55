package operator

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
)

// PublicHostsVariable names the hosts, separated by commas, where the flag does not.
const PublicHostsVariable = "TOOLCRIB_PUBLIC_HOSTS"

// PublicHosts registers --public-host, the names by which a server is reached.
func PublicHosts(cmd *cobra.Command, hosts *[]string) {
	cmd.Flags().StringSliceVar(hosts, "public-host", nil,
		"name by which the server is reached, such as tools.example.com: requests by others get 421; repeatable ("+
			PublicHostsVariable+")")
}

// validHost is a host name, in the letters in which browsers send one.
var validHost = regexp.MustCompile(`^` + hostLabel + `(\.` + hostLabel + `)*$`)

const hostLabel = `[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?`

// ReadPublicHosts returns the names of the flag, or else of the variable.
func ReadPublicHosts(hosts []string, getenv func(string) string) ([]string, error) {
	where := "--public-host"
	if text := getenv(PublicHostsVariable); len(hosts) == 0 && text != "" {
		hosts, where = strings.Split(text, ","), PublicHostsVariable
	}
	out := make([]string, len(hosts))
	for i, text := range hosts {
		out[i] = strings.Trim(strings.TrimSpace(text), "[]")
		if _, err := netip.ParseAddr(out[i]); err != nil && !validHost.MatchString(out[i]) {
			return nil, cli.Usagef("%s %q: expected a host without scheme and port, such as tools.example.com", where, text)
		}
	}
	return out, nil
}
