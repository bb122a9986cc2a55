// Package toolset is the contract of toolsets: chosen tools of a tenant that are offered to MCP clients under
// one address, /mcp/{slug}, as if they were a server of their own.
//
// A toolset only narrows: a client that uses it sees and calls those of its tools that its key may call, and
// nothing else. Package store implements the contract; package resolver applies it.
package toolset

import (
	"context"
	"fmt"
	"regexp"
	"time"

	"github.com/Masterminds/semver/v3"

	"github.com/toolcrib/toolcrib/tool"
)

// Catalog is how the tools of a toolset are listed.
type Catalog string

// Ways to list tools.
const (
	CatalogAuto   Catalog = "auto"   // All of them, or the three that find the others where there are many.
	CatalogAll    Catalog = "all"    // Always all.
	CatalogSearch Catalog = "search" // Always the three that find the others.
)

// Catalogs returns all of them.
func Catalogs() []Catalog { return []Catalog{CatalogAuto, CatalogAll, CatalogSearch} }

// Status says whether clients can use a toolset.
type Status string

// Statuses.
const (
	Active   Status = "active"
	Disabled Status = "disabled" // For clients, it does not exist.
)

// Statuses returns all of them.
func Statuses() []Status { return []Status{Active, Disabled} }

// Bounds of a toolset.
const (
	MaxTools        = 1000
	MaxServers      = 50
	MaxInstructions = 4 << 10 // Bytes.
	maxName         = 200     // Bytes.
	maxConstraint   = 128     // Bytes.
)

// Toolset is a choice of tools that MCP clients are offered.
type Toolset struct {
	ID     string
	Tenant tool.TenantID
	Slug   string // Of the address. It cannot be changed.
	Name   string
	// Instructions are what clients may show their models, beside those of the server.
	Instructions string
	Catalog      Catalog
	Status       Status
	Tools        []Tool
	// Servers are attached MCP servers, of which every imported tool is in the toolset, those that are
	// imported later too.
	Servers []Server

	Revision  int64
	CreatedBy string
	ChangedBy string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Tool is a tool of a toolset.
type Tool struct {
	// Name is the slug; of a toolset that is stored, the slug or the id.
	Name string
	ID   string // Stores fill it.
	// Version is the constraint that versions must meet, such as "^1.2"; empty for the newest.
	Version string
}

// Server is an attached MCP server of a toolset.
type Server struct {
	Name string // As of a [Tool].
	ID   string // Stores fill it.
}

// Offer is a toolset as requests of clients need it.
type Offer struct {
	ID           string
	Slug         string
	Revision     int64
	Instructions string
	Catalog      Catalog
	// Tools are all tools of the toolset, those of its servers included: version constraints by the ids of
	// tools.
	Tools map[string]string
}

var validSlug = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)

// ValidSlug reports whether a text can be the slug of a toolset.
func ValidSlug(text string) bool { return validSlug.MatchString(text) }

// Check fills in defaults. It fails with tool.Invalid, and the path of the field, for a toolset that means
// nothing.
func (s *Toolset) Check() error {
	if s.Name == "" {
		s.Name = s.Slug
	}
	if s.Catalog == "" {
		s.Catalog = CatalogAuto
	}
	if s.Status == "" {
		s.Status = Active
	}
	switch {
	case !ValidSlug(s.Slug):
		return invalid("/slug", "a slug has 1 to 32 characters: small letters, digits and -, the first of them a letter")
	case len(s.Name) > maxName:
		return invalid("/name", fmt.Sprintf("the name has more than %d bytes", maxName))
	case len(s.Instructions) > MaxInstructions:
		return invalid("/instructions", fmt.Sprintf("the instructions have more than %d bytes", MaxInstructions))
	case s.Catalog != CatalogAuto && s.Catalog != CatalogAll && s.Catalog != CatalogSearch:
		return invalid("/catalog", `expected "auto", "all" or "search"`)
	case s.Status != Active && s.Status != Disabled:
		return invalid("/status", `expected "active" or "disabled"`)
	case len(s.Tools) > MaxTools:
		return invalid("/tools", fmt.Sprintf("a toolset has at most %d tools of its own", MaxTools))
	case len(s.Servers) > MaxServers:
		return invalid("/servers", fmt.Sprintf("a toolset has at most %d servers", MaxServers))
	}
	seen := map[string]bool{}
	for i := range s.Tools {
		if err := s.Tools[i].check(fmt.Sprintf("/tools/%d", i), seen); err != nil {
			return err
		}
	}
	for i, server := range s.Servers {
		if server.Name == "" || seen["server "+server.Name] {
			return invalid(fmt.Sprintf("/servers/%d", i), "expected the slug of an attached MCP server, each once")
		}
		seen["server "+server.Name] = true
	}
	return nil
}

func (t *Tool) check(path string, seen map[string]bool) error {
	if !tool.ValidSlug(t.Name) && !tool.ValidID(t.Name) {
		return invalid(path+"/tool", "expected the slug or the id of a tool")
	}
	if seen[t.Name] {
		return invalid(path+"/tool", fmt.Sprintf("the tool %q is there twice", t.Name))
	}
	seen[t.Name] = true
	if t.Version == "" {
		return nil
	}
	if len(t.Version) > maxConstraint {
		return invalid(path+"/version", fmt.Sprintf("the version constraint has more than %d bytes", maxConstraint))
	}
	if _, err := semver.NewConstraint(t.Version); err != nil {
		return invalid(path+"/version", fmt.Sprintf(
			"%q is no version constraint: expected an exact version such as 1.2.0, or a range such as ^1.2", t.Version))
	}
	return nil
}

func invalid(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "toolset.Check", Path: path, Msg: msg}
}

// Toolsets is the record of toolsets. Package store implements it. Those of other tenants are tool.NotFound.
type Toolsets interface {
	// CreateToolset stores a new toolset. It fails with tool.Conflict where its slug is taken, and with
	// tool.NotFound, and the path of the field, for a tool or a server that the tenant does not have.
	CreateToolset(ctx context.Context, s Toolset) (Toolset, error)
	// SaveToolset replaces a toolset by its id, under the rules of CreateToolset. The slug stays. It fails with
	// tool.Conflict unless the toolset is at the revision of s.
	SaveToolset(ctx context.Context, s Toolset) (Toolset, error)
	// FindToolset returns a toolset by its slug or id.
	FindToolset(ctx context.Context, tenant tool.TenantID, slugOrID string) (Toolset, error)
	// ListToolsets returns a page in the order of slugs.
	ListToolsets(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]Toolset, error)
	// DeleteToolset deletes a toolset at a revision, and revokes the keys that are bound to it. It returns how
	// many those are.
	DeleteToolset(ctx context.Context, tenant tool.TenantID, id string, revision int64) (revoked int, err error)
	// FindOffer returns a toolset that clients can use, by its slug. It fails with tool.NotFound for one that
	// is disabled, too.
	FindOffer(ctx context.Context, tenant tool.TenantID, slug string) (Offer, error)
}
