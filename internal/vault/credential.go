package vault

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of a credential.
const (
	MaxValueBytes = 64 << 10
	MaxHosts      = 50
)

// Credential is a credential of a tenant, without its value.
type Credential struct {
	ID       string
	Tenant   tool.TenantID
	Ref      string          // Its name in tools, unique within the tenant.
	Selector secret.Selector // Its purpose; zero if it is found by its ref alone.
	// Hosts are the hosts it may be sent to, as for secret.NewValue.
	Hosts      []string
	Version    int // Of the value: counts from 1, and up when it is rotated.
	KeyVersion int // Of the tenant's data key that it is encrypted by.
	Revision   int64
	CreatedAt  time.Time
	UpdatedAt  time.Time
	RotatedAt  *time.Time
	LastUsedAt *time.Time // To the minute.
	ExpiresAt  *time.Time // Nil for never.
	RevokedAt  *time.Time
}

// Sealed is a credential with its encrypted value, and its data key.
type Sealed struct {
	Credential
	Ciphertext []byte
	Key        DataKey
	Expired    bool // By the database's clock.
}

// binding is the associated data of a credential's ciphertext.
func (c Credential) binding() []byte {
	return bound("toolcrib credential", c.Tenant, c.ID, c.Ref, c.Version, c.Hosts)
}

var selectorWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// check validates a credential and normalizes its hosts.
func (c *Credential) check() error {
	if tool.ValidID(c.Ref) {
		return invalid("/ref", "%q is the form of an id, and can't name a credential", c.Ref)
	}
	if !secret.ValidRef(c.Ref) {
		return invalid("/ref", "%.40q can't name a credential: want letters, digits, dots, dashes and underscores", c.Ref)
	}
	if c.Selector != (secret.Selector{}) {
		for _, word := range []struct {
			path, text string
			optional   bool
		}{
			{"/category", c.Selector.Category, false},
			{"/provider_key", c.Selector.Provider, false},
			{"/provider_variant", c.Selector.Variant, true},
		} {
			if !selectorWord.MatchString(word.text) && !(word.optional && word.text == "") {
				return invalid(
					word.path,
					"%.40q: category and provider_key go together, each of letters, digits, dots, dashes and underscores, as "+
						"provider_variant is",
					word.text,
				)
			}
		}
	}
	hosts, err := checkHosts(c.Hosts)
	c.Hosts = hosts
	return err
}

// checkHosts validates hosts and returns them in normal form.
func checkHosts(hosts []string) ([]string, error) {
	if len(hosts) > MaxHosts {
		return nil, invalid("/hosts", "%d hosts: at most %d", len(hosts), MaxHosts)
	}
	out := make([]string, 0, len(hosts))
	for _, h := range hosts {
		form := hostname.Form(h)
		name, wild := strings.CutPrefix(form, "*.")
		if !hostname.ValidEntry(form, true) || wild && !strings.Contains(name, ".") {
			return nil, invalid("/hosts", "%.80q is not a host, host:port or *.example.com in ASCII", h)
		}
		out = append(out, form)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// covers reports whether old covers host: a credential that may be sent to old may be sent to
// host. Both are in the form of [checkHosts].
func covers(old []string, host string) bool {
	wanted, wantedPort := hostname.Split(host)
	below, wild := strings.CutPrefix(wanted, "*.")
	return slices.ContainsFunc(old, func(o string) bool {
		pattern, port := hostname.Split(o)
		switch {
		case port != "" && port != wantedPort:
			return false
		case pattern == wanted:
			return true
		case wild: // A wildcard is covered only by a wildcard above it.
			return strings.HasPrefix(pattern, "*.") && hostname.Matches(pattern, below)
		default:
			return hostname.Matches(pattern, wanted)
		}
	})
}

// checkValue validates the value of a credential.
func checkValue(value string) error {
	switch {
	case value == "":
		return invalid("/value", "a credential needs a value")
	case len(value) > MaxValueBytes:
		return invalid("/value", "the value has %d bytes: at most %d", len(value), MaxValueBytes)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return invalid("/value", "the value is not text: encode it, such as in base64")
	case value == secret.Redacted:
		return invalid("/value", "%s is a redaction mark: send the value itself", secret.Redacted)
	default:
		return nil
	}
}
