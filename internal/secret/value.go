package secret

import (
	"crypto/subtle"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/hostname"
)

// Value is an opened secret with the hosts it may be sent to. The zero Value is empty and may
// be sent nowhere.
//
// Every formatting verb and encoder prints [Redacted]. The text is inside a function, so that
// printers that read unexported fields by reflection find nothing either, and so that Values
// cannot be compared with ==: see [Value.Equal].
type Value struct {
	reveal func() string
	hosts  []string
}

// NewValue returns a secret that may be sent to the given hosts. A host is a name or address
// in lower or upper case, optionally with ":port", or "*.example.com" for all names below
// example.com. International names are in their xn-- form: package egress accepts no others.
// Without hosts, the secret may be sent nowhere.
func NewValue(text string, hosts ...string) Value {
	folded := make([]string, 0, len(hosts))
	for _, h := range hosts {
		if h = HostForm(h); h != "" {
			folded = append(folded, h)
		}
	}
	return Value{reveal: func() string { return text }, hosts: folded}
}

// HostForm is [hostname.Form]: the normal form for comparing hosts.
func HostForm(host string) string { return hostname.Form(host) }

// Reveal returns the secret itself. Only code that sends it may call it.
func (v Value) Reveal() string {
	if v.reveal == nil {
		return ""
	}
	return v.reveal()
}

// Hosts returns the hosts given to [NewValue].
func (v Value) Hosts() []string { return slices.Clone(v.hosts) }

// MaySendTo reports whether the secret may be sent to a host, in the form of [HostForm] and
// without brackets, at a port.
func (v Value) MaySendTo(host, port string) bool {
	for _, h := range v.hosts {
		name, onlyPort := splitPort(h)
		if onlyPort != "" && onlyPort != port {
			continue
		}
		if hostname.Matches(name, host) {
			return true
		}
	}
	return false
}

// splitPort splits "host:port", "[v6]:port", "v6" and "host".
func splitPort(h string) (host, port string) {
	if rest, ok := strings.CutPrefix(h, "["); ok {
		host, port, _ = strings.Cut(rest, "]")
		return host, strings.TrimPrefix(port, ":")
	}
	if strings.Count(h, ":") == 1 {
		host, port, _ = strings.Cut(h, ":")
		return host, port
	}
	return h, ""
}

// IsZero reports whether v is empty.
func (v Value) IsZero() bool { return v.Reveal() == "" }

// Equal compares two secrets in time that depends on their lengths only.
func (v Value) Equal(other Value) bool {
	return subtle.ConstantTimeCompare([]byte(v.Reveal()), []byte(other.Reveal())) == 1
}

// String implements [fmt.Stringer].
func (v Value) String() string { return Redacted }

// GoString implements [fmt.GoStringer].
func (v Value) GoString() string { return Redacted }

// Format implements [fmt.Formatter], for all verbs.
func (v Value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// MarshalText implements [encoding.TextMarshaler].
func (v Value) MarshalText() ([]byte, error) { return []byte(Redacted), nil }

// MarshalJSON implements [encoding/json.Marshaler].
func (v Value) MarshalJSON() ([]byte, error) { return []byte(`"` + Redacted + `"`), nil }

// LogValue implements [slog.LogValuer].
func (v Value) LogValue() slog.Value { return slog.StringValue(Redacted) }
