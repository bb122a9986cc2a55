package identity

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/toolcrib/toolcrib/access"
)

// IssuerConfig says which tokens of an issuer are accepted, and what they permit. Name, URL,
// Audiences and one of Tenant and TenantClaim are required.
type IssuerConfig struct {
	// Name is part of the subject of its people, user:<name>/<sub>. It must never name another issuer.
	Name string `yaml:"name"`
	// URL is what tokens have as iss, and where its documents are: https, or http on this machine.
	URL string `yaml:"url"`
	// Audiences are the values of aud of which a token must have one.
	Audiences []string `yaml:"audiences"`
	// Tenant is the slug or id of the tenant of all its tokens.
	Tenant string `yaml:"tenant"`
	// TenantClaim is the claim with the slug or id of a token's tenant.
	TenantClaim string `yaml:"tenant_claim"`
	// Tenants are those that TenantClaim may name. Empty for every tenant of the platform.
	Tenants []string `yaml:"tenants"`
	// RolesClaim is the claim with the groups of a person: a text with spaces between, or a list. A
	// name that begins with / is a JSON Pointer, such as /realm_access/roles. Defaults to groups.
	RolesClaim string `yaml:"roles_claim"`
	// Roles are the roles of each group, built-in ones or the tenant's.
	Roles map[string][]string `yaml:"roles"`
	// DefaultRoles are the roles of everyone with a valid token. Defaults to none.
	DefaultRoles []string `yaml:"default_roles"`
	// Algorithms are those that tokens may be signed by. Defaults to RS256 and ES256.
	Algorithms []string `yaml:"algorithms"`
	// ClockSkew is how far the issuer's clock may be off. Defaults to 30 s; at most 5 min.
	ClockSkew time.Duration `yaml:"clock_skew"`
	// KeysURL is where its keys are. Defaults to what its configuration document says; of another
	// host, that has to be public.
	KeysURL string `yaml:"keys_url"`
}

// asymmetric are the algorithms that can be allowed: none by which a public key could sign.
var asymmetric = []string{
	"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA",
}

const (
	defaultSkew  = 30 * time.Second
	maxSkew      = 5 * time.Minute
	maxIssuers   = 50
	maxFileBytes = 1 << 20
)

var issuerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,30}$`)

// ReadFile reads a YAML file with a list of issuers under issuers.
func ReadFile(path string) ([]IssuerConfig, error) {
	f, err := os.Open(path) //nolint:gosec // The operator names it.
	if err != nil {
		return nil, fmt.Errorf("opening the file of issuers: %w", err)
	}
	defer func() { _ = f.Close() }() // It was only read.
	var file struct {
		Issuers []IssuerConfig `yaml:"issuers"`
	}
	decoder := yaml.NewDecoder(io.LimitReader(f, maxFileBytes))
	decoder.KnownFields(true)
	if err := decoder.Decode(&file); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(file.Issuers) == 0 {
		return nil, fmt.Errorf("%s lists no issuers: expected issuers: with a list of name, url, audiences, …", path)
	}
	return file.Issuers, nil
}

// withDefaults checks a configuration, and fills in its defaults.
func (c IssuerConfig) withDefaults() (IssuerConfig, error) {
	invalid := func(format string, args ...any) (IssuerConfig, error) {
		return IssuerConfig{}, fmt.Errorf("issuer %q: %s", c.Name, fmt.Sprintf(format, args...))
	}
	if !issuerName.MatchString(c.Name) {
		return invalid("a name has small letters, digits and -, at most 31")
	}
	for name, text := range map[string]string{"url": c.URL, "keys_url": c.KeysURL} {
		if err := checkURL(text); err != nil && (text != "" || name == "url") {
			return invalid("%s: %v", name, err)
		}
	}
	if len(c.Audiences) == 0 || slices.Contains(c.Audiences, "") {
		return invalid("audiences: name what its tokens for this server have as aud")
	}
	switch {
	case (c.Tenant == "") == (c.TenantClaim == ""):
		return invalid("give either tenant or tenant_claim")
	case c.Tenant != "" && len(c.Tenants) > 0:
		return invalid("tenants narrows tenant_claim, and goes with it only")
	}
	if c.RolesClaim == "" {
		c.RolesClaim = "groups"
	}
	for _, names := range append(slices.Collect(maps.Values(c.Roles)), c.DefaultRoles) {
		for _, role := range names {
			if !access.ValidName(role) {
				return invalid("%q is not the name of a role", role)
			}
		}
	}
	if len(c.Roles)+len(c.DefaultRoles) == 0 {
		return invalid("give roles or default_roles, or its tokens may do nothing")
	}
	if len(c.Algorithms) == 0 {
		c.Algorithms = []string{"RS256", "ES256"}
	}
	for _, a := range c.Algorithms {
		if !slices.Contains(asymmetric, a) {
			return invalid("algorithms: %q is not one of %s", a, strings.Join(asymmetric, ", "))
		}
	}
	if c.ClockSkew == 0 {
		c.ClockSkew = defaultSkew
	}
	if c.ClockSkew < 0 || c.ClockSkew > maxSkew {
		return invalid("clock_skew %s is out of range: expected up to %s", c.ClockSkew, maxSkew)
	}
	return c, nil
}

// checkURL accepts https, and http on this machine.
func checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return errors.New("the URL is malformed")
	case u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return errors.New("expected https://host/path, without user, query and fragment")
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	}
	return errors.New("use https; http is for this machine only")
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
