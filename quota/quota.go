// Package quota is the contract of quotas: how much a tenant may have of what it makes and keeps.
//
// The platform sets them, for each tenant and for all that have none of their own; a tenant reads
// them. They are counted and enforced in the transaction that makes a thing, so that as many
// parallel requests as there may be do not exceed one. What is there already stays, also beyond a
// lower quota. Package store implements the contract; docs/governance.md is about its use.
package quota

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Name is what a quota limits.
type Name string

// Names. They are stored, and never change.
const (
	Tools           Name = "tools"
	Agents          Name = "agents"
	Documents       Name = "documents"
	StorageBytes    Name = "storage_bytes"
	Artifacts       Name = "artifacts"
	ArtifactBytes   Name = "artifact_bytes"
	Runs            Name = "runs"
	IdempotencyKeys Name = "idempotency_keys"
)

// Info describes what a quota limits.
type Info struct {
	Name    Name
	Counts  string // What is counted.
	advice  string // What makes room.
	passing bool   // Room comes by itself, so that a later attempt may succeed.
}

var all = []Info{
	{
		Tools, "tools of the tenant, with graphs and the tools of MCP servers; not those that are deleted",
		"delete tools that are not used", false,
	},
	{Agents, "agents, in any status", "change an agent instead of making another", false},
	{Documents, "documents of pipelines", "delete documents that are not searched", false},
	{
		StorageBytes, "bytes of documents, as they were added, and of files",
		"delete documents or files", false,
	},
	{Artifacts, "artifacts, in any status", "add a version to an artifact instead of making another", false},
	{
		ArtifactBytes, "bytes of the versions of artifacts", "upload smaller programs", false,
	},
	{Runs, "runs that are pending or running", "wait until some end, cancel some", true},
	{
		IdempotencyKeys, "requests with an idempotency key, which are kept for a day",
		"retry later, send fewer requests with a key", true,
	},
}

// All describes every quota.
func All() []Info { return slices.Clone(all) }

// Names returns the names of all quotas.
func Names() []Name {
	out := make([]Name, len(all))
	for i, info := range all {
		out[i] = info.Name
	}
	return out
}

// Find describes a quota by its name. It fails with tool.Invalid, and lists the names.
func Find(name string) (Info, error) {
	for _, info := range all {
		if string(info.Name) == name {
			return info, nil
		}
	}
	var names []string
	for _, n := range Names() {
		names = append(names, string(n))
	}
	return Info{}, &tool.Error{
		Kind: tool.Invalid, Op: "quota.Find", Path: "name",
		Msg: fmt.Sprintf("there is no quota %.64q: the quotas are %s", name, strings.Join(names, ", ")),
	}
}

// MaxLimit is the largest quota; beyond it there is none.
const MaxLimit = 1_000_000_000_000_000

// Origin is who set a quota.
type Origin string

// Origins.
const (
	OfTenant   Origin = "tenant"   // The platform, for this tenant.
	OfPlatform Origin = "platform" // The platform, for every tenant without a quota of its own.
	OfServers  Origin = "servers"  // The setting max-unfinished-runs of the servers.
	Unlimited  Origin = "none"     // There is no limit.
)

// Origins lists the origins.
func Origins() []Origin { return []Origin{OfTenant, OfPlatform, OfServers, Unlimited} }

// Quota is how much a tenant may have, and how much it has.
type Quota struct {
	Name      Name
	Limit     *int64 // Nil for no limit.
	Origin    Origin
	Used      int64
	ChangedBy string    // Empty where nothing was set.
	ChangedAt time.Time // Zero where nothing was set.
}

// Rule is a quota as it is set, for a tenant or for all that have none of their own.
type Rule struct {
	Tenant    tool.TenantID // Empty for all.
	Name      Name
	Limit     *int64 // Nil for no limit.
	ChangedBy string
	ChangedAt time.Time
}

// Check fails with tool.Invalid for a rule that means nothing.
func (r Rule) Check() error {
	if _, err := Find(string(r.Name)); err != nil {
		return err
	}
	most := int64(MaxLimit)
	if r.Name == Runs {
		most = MaxRuns
	}
	switch {
	case r.Limit != nil && (*r.Limit < 0 || *r.Limit > most):
		return invalid("limit", fmt.Sprintf("the quota %d is out of range: 0 to %d, or none", *r.Limit, most))
	case r.Name == Runs && r.Tenant == "":
		return invalid("name", "the limit of runs for all tenants is a setting of the servers, max-unfinished-runs: "+
			"set it there, or name a tenant")
	case r.Name == Runs && (r.Limit == nil || *r.Limit == 0):
		return invalid("limit", "a tenant's limit of runs is 1 or more: unset it for the limit of the servers, or suspend "+
			"the tenant")
	}
	return nil
}

// MaxRuns is the largest quota of unfinished runs.
const MaxRuns = 1_000_000

func invalid(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "quota.Check", Path: path, Msg: msg}
}

// Difference is a count that is not what the tenant has.
type Difference struct {
	Name    Name  `json:"name"`
	Counted int64 `json:"counted"`
	Found   int64 `json:"found"`
}

// Quotas is what the platform decides about quotas. Package store implements it.
type Quotas interface {
	// ListQuotas returns every quota of a tenant. That of runs has no limit where the tenant has
	// none of its own, which the servers know.
	ListQuotas(ctx context.Context, tenant tool.TenantID) ([]Quota, error)
	// QuotaDefaults returns the quotas that are set for tenants without their own, by name.
	QuotaDefaults(ctx context.Context) ([]Rule, error)
	// SetQuota sets a checked rule. It is valid from the next creation on; what a tenant has
	// beyond it stays.
	SetQuota(ctx context.Context, r Rule) error
	// UnsetQuota removes a rule; that of all tenants is then valid for the tenant. It fails with
	// tool.NotFound where there is none.
	UnsetQuota(ctx context.Context, tenant tool.TenantID, name Name) error
	// VerifyQuotas compares the counts of a tenant with what it has, and returns those that
	// differ; with repair it corrects them.
	VerifyQuotas(ctx context.Context, tenant tool.TenantID, repair bool) ([]Difference, error)
}
