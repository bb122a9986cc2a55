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
	Ref      string          // What tools name it by, unique among the tenant's.
	Selector secret.Selector // What it is for; zero if it is found by its ref alone.
	// Hosts are where it may be sent: as secret.NewValue takes them.
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

// Sealed is a credential with its value, encrypted, and the data key that it is
// encrypted by.
type Sealed struct {
	Credential
	Ciphertext []byte
	Key        DataKey
	Expired    bool // By the database's clock.
}

// binding is what a credential's ciphertext belongs to.
func (c Credential) binding() []byte {
	return bound("toolcrib credential", c.Tenant, c.ID, c.Ref, c.Version, c.Hosts)
}

var selectorWord = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// check refuses what no credential may be, and brings its hosts into their one
// form.
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

// checkHosts refuses what names no host, and returns the others in the one form
// that hosts are compared in.
func checkHosts(hosts []string) ([]string, error) {
	if len(hosts) > MaxHosts {
		return nil, invalid("/hosts", "%d hosts: at most %d", len(hosts), MaxHosts)
	}
	out := make([]string, 0, len(hosts))
	for _, h := range hosts {
		form := hostname.Form(h)
		name, wild := strings.CutPrefix(form, "*.")
		if !hostname.ValidEntry(form, true) || wild && !strings.Contains(name, ".") {
			return nil, invalid("/hosts", "%.80q is no host, host:port or *.example.com in ASCII", h)
		}
		out = append(out, form)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// covers reports whether a credential that may go to old may go to host, in the
// spelling of [checkHosts].
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
		case wild: // All names below what is below a pattern are below the pattern; below a single host, none is.
			return strings.HasPrefix(pattern, "*.") && hostname.Matches(pattern, below)
		default:
			return hostname.Matches(pattern, wanted)
		}
	})
}

// checkValue refuses what is no value of a credential.
func checkValue(value string) error {
	switch {
	case value == "":
		return invalid("/value", "a credential needs a value")
	case len(value) > MaxValueBytes:
		return invalid("/value", "the value has %d bytes: at most %d", len(value), MaxValueBytes)
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return invalid("/value", "the value is no text: encode it, in base64 say")
	case value == secret.Redacted:
		return invalid("/value", "%s stands for a value that is not shown: send the value itself", secret.Redacted)
	default:
		return nil
	}
}
