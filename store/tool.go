package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateTool implements [registry.Store]. It fails with tool.Conflict when the slug is
// taken in the tenant, and with tool.Invalid where the definition cannot be stored
// unchanged.
func (s *Store) CreateTool(ctx context.Context, t tool.Tool) (tool.Tool, error) {
	const op = "store.CreateTool"
	row, err := toolRow(t)
	if err != nil {
		return tool.Tool{}, err
	}
	err = s.inTx(ctx, op, t.Tenant, func(q *db.Queries) error {
		if err := lockNames(ctx, q, t.Tenant, t.Slug); err != nil {
			return err
		}
		if err := freeOfFormer(ctx, q, op, t); err != nil {
			return err
		}
		if row, err = q.CreateTool(ctx, createParams(row)); err != nil {
			return explain(failure(op, err), tool.Conflict, fmt.Sprintf("a tool %q exists already", t.Slug))
		}
		return nil
	})
	if err != nil {
		return tool.Tool{}, err
	}
	return toolOf(row)
}

func createParams(row db.ToolRegistry) db.CreateToolParams {
	return db.CreateToolParams{
		ID: row.ID, TenantID: row.TenantID, Slug: row.Slug, Name: row.Name, Description: row.Description,
		Category: row.Category, Icon: row.Icon, Schema: row.Schema, ConfigSchema: row.ConfigSchema,
		Interaction: row.Interaction, ImplementationType: row.ImplementationType, EgressClass: row.EgressClass,
		EgressRules: row.EgressRules, RequiresApproval: row.RequiresApproval, PermissionPolicy: row.PermissionPolicy,
		RequiredPermission: row.RequiredPermission, TenantSlugs: row.TenantSlugs, Status: row.Status,
		IsActive: row.IsActive, IsSystem: row.IsSystem, BuiltinKey: row.BuiltinKey, ArtifactID: row.ArtifactID,
		ArtifactVersion: row.ArtifactVersion, Version: row.Version, PublishedAt: row.PublishedAt,
		ReadsDeclaredBy: row.ReadsDeclaredBy, ReadsDeclaredAt: row.ReadsDeclaredAt,
	}
}

// UpdateTool implements [registry.Store].
func (s *Store) UpdateTool(ctx context.Context, t tool.Tool) (tool.Tool, error) {
	const op = "store.UpdateTool"
	var updated tool.Tool
	do := s.do
	runs := (t.Status == tool.Published || t.Status == tool.Deprecated) && mcpserver.SlugOf(&t.Definition) != ""
	if runs {
		do = s.inTx
	}
	err := do(ctx, op, t.Tenant, func(q *db.Queries) (err error) {
		if runs {
			if err := holdServer(ctx, q, op, t, &t.Definition); err != nil {
				return err
			}
		}
		updated, err = updateTool(ctx, q, op, t)
		return err
	})
	return updated, err
}

// updateTool stores a changed head under the rules of [Store.UpdateTool].
func updateTool(ctx context.Context, q *db.Queries, op string, t tool.Tool) (tool.Tool, error) {
	if err := checkIDs(op, t.ID); err != nil {
		return tool.Tool{}, err
	}
	row, err := toolRow(t)
	if err != nil {
		return tool.Tool{}, err
	}
	stored, err := q.UpdateTool(ctx, db.UpdateToolParams{
		ScopeID: scopeID(t.Tenant), ID: row.ID, Revision: t.Revision,
		Slug: row.Slug, Name: row.Name, Description: row.Description, Category: row.Category, Icon: row.Icon,
		Schema: row.Schema, ConfigSchema: row.ConfigSchema, Interaction: row.Interaction,
		ImplementationType: row.ImplementationType, EgressClass: row.EgressClass, EgressRules: row.EgressRules,
		RequiresApproval: row.RequiresApproval,
		PermissionPolicy: row.PermissionPolicy, RequiredPermission: row.RequiredPermission, TenantSlugs: row.TenantSlugs,
		Status: row.Status, IsActive: row.IsActive, IsSystem: row.IsSystem, BuiltinKey: row.BuiltinKey,
		ArtifactID: row.ArtifactID, ArtifactVersion: row.ArtifactVersion, Version: row.Version, PublishedAt: row.PublishedAt,
		Quarantine: row.Quarantine, ReadsDeclaredBy: row.ReadsDeclaredBy, ReadsDeclaredAt: row.ReadsDeclaredAt,
		ArchivedAt: row.ArchivedAt, ArchivedBy: row.ArchivedBy,
	})
	if err == nil {
		return toolOf(stored)
	}
	err = failure(op, err)
	if tool.KindOf(err) != tool.NotFound {
		return tool.Tool{}, explain(err, tool.Conflict, fmt.Sprintf("a tool %q exists already", t.Slug))
	}
	return tool.Tool{}, staleTool(ctx, q, op, t)
}

// staleTool returns why an update of a tool changed no row.
func staleTool(ctx context.Context, q *db.Queries, op string, t tool.Tool) error {
	found, err := q.FindToolsByID(ctx, db.FindToolsByIDParams{ScopeID: scopeID(t.Tenant), ID: t.ID})
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return notFound(op, fmt.Sprintf("tool %q not found", t.Slug))
	case found[0].ScopeID != scopeID(t.Tenant):
		return &tool.Error{
			Kind: tool.Denied, Op: op, Msg: fmt.Sprintf("tool %q is global: only the platform changes it", t.Slug),
		}
	default:
		return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
			"tool %q changed meanwhile: revision %d was asked for, it is at %d; read it again", t.Slug, t.Revision,
			found[0].Revision), Err: definition.ErrChanged}
	}
}

// DeleteTool implements [registry.Store].
func (s *Store) DeleteTool(ctx context.Context, t tool.Tool) error {
	const op = "store.DeleteTool"
	if err := checkIDs(op, t.ID); err != nil {
		return err
	}
	return s.do(ctx, op, t.Tenant, func(q *db.Queries) error {
		row, err := q.DeleteTool(ctx, db.DeleteToolParams{ScopeID: scopeID(t.Tenant), ID: t.ID, Revision: t.Revision})
		switch {
		case err != nil || row.Gone:
			return err
		case row.ByServer:
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
				"tool %q is imported from an MCP server, and would be imported again: detach the server, or remove the tool "+
					"from its allowed_tools", t.Slug)}
		default:
			return staleTool(ctx, q, op, t)
		}
	})
}

// FindTool implements [registry.Store].
func (s *Store) FindTool(ctx context.Context, tenant tool.TenantID, ref tool.Ref) (tool.Tool, error) {
	const op = "store.FindTool"
	var rows []db.ToolRegistry
	err := s.do(ctx, op, tenant, func(q *db.Queries) (err error) {
		if ref.Slug != "" {
			rows, err = q.FindToolsBySlug(ctx, db.FindToolsBySlugParams{ScopeID: scopeID(tenant), Slug: text(ref.Slug)})
			return err
		}
		if !tool.ValidID(ref.ID) {
			return nil
		}
		rows, err = q.FindToolsByID(ctx, db.FindToolsByIDParams{ScopeID: scopeID(tenant), ID: ref.ID})
		return err
	})
	if err != nil {
		return tool.Tool{}, err
	}
	if len(rows) == 0 {
		return tool.Tool{}, s.missing(ctx, op, tenant, ref)
	}
	return s.seen(rows[0])
}

// ListTools implements [registry.Store]. A tenant's page has its own tools and the
// global ones that are available to it, shadowed ones included.
func (s *Store) ListTools(ctx context.Context, tenant tool.TenantID, q registry.ToolQuery) ([]tool.Tool, error) {
	const op = "store.ListTools"
	params, err := listParams(op, tenant, q)
	if err != nil {
		return nil, err
	}
	var rows []db.ToolRegistry
	if params.Search == "" || strings.IndexFunc(params.Search, notASCII) >= 0 {
		rows, err = ask(ctx, s.doInOrder, op, tenant, (*db.Queries).ListTools, params)
	} else {
		rows, err = ask(ctx, s.doInOrder, op, tenant, (*db.Queries).SearchTools, searchParams(params))
	}
	if err != nil {
		return nil, err
	}
	return collect(rows, s.seen)
}

func searchParams(p db.ListToolsParams) db.SearchToolsParams {
	return db.SearchToolsParams{
		ScopeID: p.ScopeID, Archived: p.Archived, AfterSlug: p.AfterSlug, AfterID: p.AfterID,
		Search: strings.ToLower(p.Search), Status: p.Status, UpdatedSince: p.UpdatedSince,
		Implementation: p.Implementation, Bucket: p.Bucket, Category: p.Category, SwitchedOff: p.SwitchedOff,
		Egress: p.Egress, Risk: p.Risk, Limit: p.Limit,
	}
}

func listParams(op string, tenant tool.TenantID, q registry.ToolQuery) (db.ListToolsParams, error) {
	if err := checkIDs(op, q.AfterID); err != nil {
		return db.ListToolsParams{}, err
	}
	return db.ListToolsParams{
		ScopeID: scopeID(tenant), AfterSlug: text(q.AfterSlug), AfterID: cmp.Or(q.AfterID, globalScope),
		Status:         string(q.Status),
		Implementation: string(q.Implementation), Bucket: string(q.Bucket),
		Category: text(q.Category), Egress: string(q.Egress), Risk: string(q.Risk),
		Search:       text(q.Search),
		UpdatedSince: optionalTime(q.UpdatedSince), Archived: q.Archived,
		SwitchedOff: q.SwitchedOff, Limit: pageSize(q.Limit),
	}, nil
}

// CountTools counts the tools of a tenant, and the global ones that are available to it, by what people
// filter by: at most the first so many of each, in the order of slugs.
func (s *Store) CountTools(ctx context.Context, tenant tool.TenantID, most int) ([]registry.ToolCount, error) {
	rows, err := ask(ctx, s.doInOrder, "store.CountTools", tenant, (*db.Queries).CountTools, db.CountToolsParams{
		ScopeID: scopeID(tenant), Most: int32(min(most, maxCounted)), //nolint:gosec // Bounded.
	})
	if err != nil {
		return nil, err
	}
	out := make([]registry.ToolCount, len(rows))
	for i, r := range rows {
		out[i] = registry.ToolCount{
			Bucket: tool.Bucket(r.Bucket), Implementation: tool.Implementation(r.Implementation),
			Status: tool.Status(r.Status), Egress: tool.Egress(r.EgressClass), Risk: tool.RiskLevel(r.Risk),
			Category: r.Category, RequiredPermission: r.RequiredPermission, Internal: r.Internal, Global: r.Global,
			Tools: int(r.Tools),
		}
	}
	return out, nil
}

// maxCounted bounds the tools that [Store.CountTools] reads of a scope.
const maxCounted = 20000

func notASCII(r rune) bool { return r > unicode.MaxASCII }

// scopeID returns a tenant's id for keys; the nil id for global rows.
func scopeID(tenant tool.TenantID) string {
	if tenant == "" {
		return globalScope
	}
	return string(tenant)
}

// toolSchema and toolConfig are the JSON of a tool's columns schema and
// config_schema.
type (
	toolSchema struct {
		Input  json.RawMessage  `json:"input,omitempty"`
		Output json.RawMessage  `json:"output,omitempty"`
		Check  tool.OutputCheck `json:"output_check,omitempty"`
	}
	toolConfig struct {
		Implementation json.RawMessage   `json:"implementation,omitempty"`
		Execution      tool.Execution    `json:"execution"`
		Artifact       *tool.ArtifactPin `json:"artifact,omitempty"`
	}
)

func toolRow(t tool.Tool) (db.ToolRegistry, error) {
	var row db.ToolRegistry
	id, err := idOrNew(t.ID)
	if err != nil {
		return row, err
	}
	if _, err := content(t.Definition); err != nil {
		return row, err
	}
	schema, err := encode(toolSchema{Input: t.InputSchema, Output: t.OutputSchema, Check: t.OutputCheck})
	if err != nil {
		return row, err
	}
	config, err := encode(toolConfig{Implementation: t.Config, Execution: t.Execution, Artifact: t.Artifact})
	if err != nil {
		return row, err
	}
	interaction, err := encode(t.Interaction)
	if err != nil {
		return row, err
	}
	rules, err := encode(t.EgressRules)
	if err != nil {
		return row, err
	}
	egress, policy, slugs := t.EgressClass, t.PermissionPolicy, t.TenantSlugs
	if egress == "" {
		egress = tool.EgressNone
	}
	if policy == "" {
		policy = tool.PermissionAuto
	}
	if slugs == nil {
		slugs = []string{}
	}
	by, at := declarationRow(t.ReadsDeclared)
	return db.ToolRegistry{
		ID: id, TenantID: optional(string(t.Tenant)), Slug: text(t.Slug), Name: text(t.Name),
		Description: text(t.Description),
		Category:    text(t.Category), Icon: text(t.Icon), Schema: schema, ConfigSchema: config, Interaction: interaction,
		ImplementationType: string(t.Implementation), EgressClass: string(egress), EgressRules: rules,
		RequiresApproval: t.RequiresApproval, PermissionPolicy: string(policy),
		RequiredPermission: text(t.RequiredPermission), TenantSlugs: slugs,
		Status: string(t.Status), IsActive: t.Active, IsSystem: t.System, BuiltinKey: text(t.BuiltinKey),
		ArtifactID: text(t.ArtifactID), ArtifactVersion: text(t.ArtifactVersion), Version: text(t.Version),
		PublishedAt: t.PublishedAt,
		Quarantine:  text(t.Quarantine), ReadsDeclaredBy: by, ReadsDeclaredAt: at,
		ArchivedAt: t.ArchivedAt, ArchivedBy: text(t.ArchivedBy),
	}, nil
}

// seen converts a row for its reader. The tenants of a global tool are visible to the
// platform only: a tenant that can read the tool is one of them.
func (s *Store) seen(row db.ToolRegistry) (tool.Tool, error) {
	row.TenantSlugs = s.audience(row.TenantID, row.TenantSlugs)
	return toolOf(row)
}

func (s *Store) audience(owner *string, slugs []string) []string {
	if owner == nil && !s.platform {
		return nil
	}
	return slugs
}

func toolOf(row db.ToolRegistry) (tool.Tool, error) {
	var schema toolSchema
	var config toolConfig
	var interaction tool.Interaction
	for _, part := range []struct {
		raw  []byte
		into any
	}{{row.Schema, &schema}, {row.ConfigSchema, &config}, {row.Interaction, &interaction}} {
		if err := decode(part.raw, part.into); err != nil {
			return tool.Tool{}, err
		}
	}
	policy, err := policyOf(row.EgressClass, row.EgressRules, row.RequiresApproval, row.PermissionPolicy,
		row.RequiredPermission, row.TenantSlugs)
	if err != nil {
		return tool.Tool{}, err
	}
	return tool.Tool{
		ID: row.ID, Tenant: tool.TenantID(value(row.TenantID)), Slug: row.Slug,
		Definition: tool.Definition{
			Name: row.Name, Description: row.Description, Category: row.Category, Icon: row.Icon,
			InputSchema: schema.Input, OutputSchema: schema.Output, OutputCheck: schema.Check,
			Implementation: tool.Implementation(row.ImplementationType), Config: config.Implementation,
			Execution: config.Execution, Artifact: config.Artifact, Interaction: interaction,
		},
		Policy: policy,
		Status: tool.Status(row.Status), Active: row.IsActive, Quarantine: row.Quarantine, System: row.IsSystem,
		BuiltinKey: row.BuiltinKey,
		ArtifactID: row.ArtifactID, ArtifactVersion: row.ArtifactVersion, Version: row.Version, Revision: row.Revision,
		ReadsDeclared: declarationOf(row.ReadsDeclaredBy, row.ReadsDeclaredAt),
		ArchivedAt:    row.ArchivedAt, ArchivedBy: row.ArchivedBy,
		PublishedAt: row.PublishedAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}, nil
}

// declarationRow returns the columns of a declaration.
func declarationRow(d *tool.Declaration) (by string, at *time.Time) {
	if d == nil {
		return "", nil
	}
	return text(d.By), &d.At
}

// declarationOf reads a declaration; nil where there is none.
func declarationOf(by string, at *time.Time) *tool.Declaration {
	if at == nil {
		return nil
	}
	return &tool.Declaration{By: by, At: at.UTC()}
}

func policyOf(
	egress string, rules []byte, approval bool, policy, permission string, slugs []string,
) (tool.Policy, error) {
	if len(slugs) == 0 {
		slugs = nil
	}
	p := tool.Policy{
		EgressClass: tool.Egress(egress), RequiresApproval: approval, PermissionPolicy: tool.PermissionPolicy(policy),
		RequiredPermission: permission, TenantSlugs: slugs,
	}
	if len(rules) == 0 { // Of no tool.
		return p, nil
	}
	return p, decode(rules, &p.EgressRules)
}

// convert maps each of rows.
func convert[From, To any](rows []From, of func(From) To) []To {
	out := make([]To, len(rows))
	for i, row := range rows {
		out[i] = of(row)
	}
	return out
}

// collect maps each of rows, and stops at the first failure.
func collect[From, To any](rows []From, of func(From) (To, error)) ([]To, error) {
	out := make([]To, len(rows))
	for i, row := range rows {
		var err error
		if out[i], err = of(row); err != nil {
			return nil, err
		}
	}
	return out, nil
}
