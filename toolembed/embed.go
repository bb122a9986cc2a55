// Package toolembed is the contract of embeds: published tools in frames of other sites' pages. A tenant says which
// origins may frame them. The backend of such a site makes a token for each view of a page, which runs one version of
// one tool as a caller that the backend names, and does nothing else.
//
// Package store implements the contract; package platform/embeds makes tokens and serves the page in the frame.
package toolembed

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Path is the path of the pages; the slugs of the tenant and of the tool follow.
const Path = "/embed/"

// Bounds of embeds.
const (
	Keep       = 5 * time.Minute // How long a token is good.
	MaxOrigins = 20              // Of a tenant.
	MaxOrigin  = 255             // Bytes.
	MaxCaller  = 128             // Bytes.
	MaxInput   = 64 << 10        // Bytes of the input of a call.
)

// Origin is an origin whose pages may frame a tenant's tools.
type Origin struct {
	ID        string
	Tenant    tool.TenantID
	Origin    string // As [CheckOrigin] takes it.
	CreatedBy string
	CreatedAt time.Time
}

// Grant is what a token allows: to run a version of a tool.
type Grant struct {
	ID     string
	Tenant tool.TenantID
	Origin string // Of the page that frames the tool: the audience.
	tool.VersionIdentity
	Caller string // Whom the host's backend named.
	KeyID  string // Of the API key that made the token. It opens nothing without that key.
	// Permission is what the tool asked of callers when the token was made. Its calls may do this, and nothing else.
	Permission string
	ExpiresAt  time.Time
	CreatedAt  time.Time

	TenantSlug, TenantName string // Stores fill them.
}

// Principal is who calls with the token.
func (g *Grant) Principal() tool.Principal {
	p := tool.Principal{Tenant: g.Tenant, Subject: Subject(g.KeyID, g.Caller), Permissions: []string{}}
	if g.Permission != "" {
		p.Permissions = append(p.Permissions, g.Permission)
	}
	return p
}

// Store keeps origins and tokens. Package store implements it. Those of other tenants are tool.NotFound.
type Store interface {
	// AddEmbedOrigin allows an origin. One that is allowed already is returned. It fails with tool.Conflict beyond
	// [MaxOrigins].
	AddEmbedOrigin(ctx context.Context, o Origin) (Origin, error)
	// RemoveEmbedOrigin takes an origin away. Tokens for it open nothing from then on.
	RemoveEmbedOrigin(ctx context.Context, tenant tool.TenantID, id string) (Origin, error)
	// ListEmbedOrigins returns the origins of a tenant, in their order.
	ListEmbedOrigins(ctx context.Context, tenant tool.TenantID) ([]Origin, error)
	// FramingOrigins returns the origins of the active tenant with a slug; none where there is no such tenant.
	FramingOrigins(ctx context.Context, slug string) ([]string, error)
	// CreateEmbedToken stores the hash of a token, which is good for [Keep]. It fails with tool.Denied where the
	// tenant does not allow the origin.
	CreateEmbedToken(ctx context.Context, g Grant, secretHash []byte) (Grant, error)
	// OpenEmbedToken returns what a token allows, at an origin. It fails with tool.NotFound for an unknown token, one
	// that has expired, is for another origin or for one that the tenant does not allow any more, whose API key was
	// revoked, whose tool is disabled or gone, or whose tenant is suspended.
	OpenEmbedToken(ctx context.Context, tenant tool.TenantID, id string, secretHash []byte, origin string) (Grant, error)
}

// CheckOrigin fails with tool.Invalid for what is not one origin of pages that may frame a tool, as browsers write it:
// https, or http of a loopback address.
func CheckOrigin(origin string) error {
	refuse := func(why string) error {
		return invalid("/origin", "the origin %.80q %s: give one such as https://shop.example.com", origin, why)
	}
	switch {
	case origin == "" || len(origin) > MaxOrigin:
		return refuse(fmt.Sprintf("does not have 1 to %d bytes", MaxOrigin))
	case origin == "null":
		return refuse("is that of pages without an address")
	case strings.Contains(origin, "*"):
		return refuse("has a wildcard, and each origin is allowed by itself")
	}
	u, err := url.Parse(origin)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "":
		return refuse("is no address")
	case u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Scheme+"://"+u.Host != origin:
		return refuse("has more than a scheme, a host and a port, or is not in lower case")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("is not https")
	case u.Scheme == "http" && !loopback(u.Hostname()):
		return refuse("is http, which only pages of this machine may be")
	case u.Port() == "443" && u.Scheme == "https", u.Port() == "80" && u.Scheme == "http", strings.HasSuffix(u.Host, ":"):
		return refuse("names the port that its scheme has anyway")
	case u.Port() != "" && !port.MatchString(u.Port()) || !named(u.Hostname()):
		return refuse("has no host that browsers write so: international names are written as xn--…")
	}
	return nil
}

var (
	port = regexp.MustCompile(`^[1-9][0-9]{0,4}$`)
	host = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
	// caller is printed in records and headers as it is.
	caller = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@:/+=-]*$`)
)

func named(name string) bool {
	if a, err := netip.ParseAddr(name); err == nil {
		return a.String() == name && a.Zone() == ""
	}
	return host.MatchString(name)
}

func loopback(name string) bool {
	a, err := netip.ParseAddr(name)
	return name == "localhost" || err == nil && a.IsLoopback()
}

// CheckCaller fails with tool.Invalid for what cannot name a caller.
func CheckCaller(text string) error {
	if len(text) > MaxCaller || !caller.MatchString(text) {
		return invalid("/caller", "the caller %.80q: expected your id of the person, of 1 to %d letters, digits and ._@:/+=-",
			text, MaxCaller)
	}
	return nil
}

// Prefix begins the subject of callers with a token.
const Prefix = "embed:"

// Subject names a caller, with the API key that named it.
func Subject(keyID, caller string) string { return Prefix + keyID + ":" + caller }

// Maker returns the subject of the API key that stands behind a caller with a token; false for other subjects.
func Maker(subject string) (string, bool) {
	rest, ok := strings.CutPrefix(subject, Prefix)
	id, _, named := strings.Cut(rest, ":")
	if !ok || !named || !tool.ValidID(id) {
		return "", false
	}
	return "key:" + id, true
}

func invalid(path, format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "toolembed", Path: path, Msg: fmt.Sprintf(format, args...)}
}
