package bench

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
)

// registryScale fills a registry and looks up tools in it: from the database, from
// memory, and a page of them at a time.
func registryScale(ctx context.Context, l *lab) ([]Figure, error) {
	var figures []Figure
	for _, n := range l.size.Tools {
		r, err := l.newCrowd(ctx, n)
		if err != nil {
			return nil, err
		}
		got, err := r.figures(ctx)
		if err != nil {
			return nil, err
		}
		figures = append(figures, got...)
	}
	return figures, nil
}

// crowd is a database with many tenants that have many tools. The tools are
// alike but for their slugs.
type crowd struct {
	*database
	lab     *lab
	tools   int
	tenants []tool.TenantID
	each    int // Tools of a tenant.
	largest tool.TenantID
	digest  string
}

func (l *lab) newCrowd(ctx context.Context, tools int) (*crowd, error) {
	d, err := l.newDatabase(ctx, fmt.Sprintf("bench-registry-%d", tools))
	if err != nil {
		return nil, err
	}
	c := &crowd{database: d, lab: l, tools: tools, each: max(1, tools/l.size.Tenants)}
	s := &site{database: d, lab: l}
	first, err := s.newTenant(ctx, "bench-registry")
	if err != nil {
		return nil, err
	}
	c.largest = first.Tenant
	_, version, err := publishTool(ctx, d.Store, c.largest, "patternTool", patternTool(), patternPolicy())
	if err != nil {
		return nil, err
	}
	c.digest = version.Digest
	l.progress("filling a registry with %d tools", tools)
	return c, c.fill(ctx)
}

// fill multiplies the tool that is there by copying its rows, whatever columns
// they have. It acts as superuser and leaves nothing out that an ordinary write
// would check but the row level security.
func (c *crowd) fill(ctx context.Context) error {
	_, err := c.pool.Exec(ctx, `insert into tenants (id, slug, name)
		select gen_random_uuid(), 'tenant-' || n, 'Tenant ' || n from generate_series(1, $1) n`, c.lab.size.Tenants)
	if err != nil {
		return fmt.Errorf("filling the registry: %w", err)
	}
	if err := c.multiply(ctx, `select gen_random_uuid() as id, gen_random_uuid() as version_id, t.id as tenant_id, 'tool' || n as slug
		from tenants t cross join generate_series(1, `+strconv.Itoa(c.each)+`) n where t.slug like 'tenant-%'
		union all select gen_random_uuid(), gen_random_uuid(), t.id, 'tool' || n
		from tenants t cross join generate_series(1, `+strconv.Itoa(c.lab.size.Largest)+
		`) n where t.slug = 'bench-registry'`); err != nil {
		return err
	}
	rows, err := c.pool.Query(ctx, "select id::text from tenants where slug like 'tenant-%'")
	if err != nil {
		return fmt.Errorf("listing the tenants: %w", err)
	}
	if c.tenants, err = pgx.CollectRows(rows, pgx.RowTo[tool.TenantID]); err != nil {
		return fmt.Errorf("listing the tenants: %w", err)
	}
	n, err := c.count(ctx, "select count(*) from tool_versions")
	if want := c.each*c.lab.size.Tenants + c.lab.size.Largest; err == nil && n < want {
		err = fmt.Errorf("the registry holds %d tools instead of %d", n, want)
	}
	return err
}

// multiply copies the only tool of the largest tenant for each row of a query: id, version_id, tenant_id and slug.
func (c *crowd) multiply(ctx context.Context, rows string) error {
	heads, err := c.copies(ctx, "tool_registry", map[string]string{
		"id": "c.id", "tenant_id": "c.tenant_id", "slug": "c.slug",
	})
	if err != nil {
		return err
	}
	versions, err := c.copies(ctx, "tool_versions", map[string]string{
		"id": "c.version_id", "tool_id": "c.id", "tenant_id": "c.tenant_id",
	})
	if err != nil {
		return err
	}
	for _, step := range []string{
		"create table bench_crowd as " + rows, heads, versions, "drop table bench_crowd", "vacuum analyze tool_registry",
		"vacuum analyze tool_versions", "analyze tenants",
	} {
		if _, err := c.pool.Exec(ctx, step); err != nil {
			return fmt.Errorf("filling the registry: %w", err)
		}
	}
	return nil
}

// copies returns the statement that copies the only row of a tenant in a table,
// with some of its columns replaced.
func (c *crowd) copies(ctx context.Context, table string, replaced map[string]string) (string, error) {
	rows, err := c.pool.Query(ctx, `select column_name::text from information_schema.columns
		where table_schema = 'public' and table_name = $1 and is_generated = 'NEVER' order by ordinal_position`, table)
	if err != nil {
		return "", fmt.Errorf("describing %s: %w", table, err)
	}
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("describing %s: %w", table, err)
	}
	values := make([]string, len(columns))
	for i, column := range columns {
		values[i] = "p." + column
		if value, ok := replaced[column]; ok {
			values[i] = value
		}
	}
	return fmt.Sprintf(
		"insert into %s (%s) select %s from bench_crowd c cross join (select * from %s where tenant_id = "+
			"'%s' limit 1) p",
		table,
		strings.Join(columns, ", "),
		strings.Join(values, ", "),
		table,
		c.largest,
	), nil
}

func (c *crowd) principal(tenant tool.TenantID) tool.Principal {
	return tool.Principal{Tenant: tenant, Subject: "bench"}
}

// any returns a tool at random. Chosen among a million, hardly any comes twice.
func (c *crowd) any() (tool.TenantID, string) {
	//nolint:gosec // It may be guessed.
	return c.tenants[rand.IntN(len(c.tenants))], fmt.Sprintf("tool%d", 1+rand.IntN(c.each))
}

func (c *crowd) figures(ctx context.Context) ([]Figure, error) {
	n := c.lab.size.Lookups
	size := fmt.Sprintf("_%d", c.tools)
	floor, err := c.timed(ctx, n, func() error {
		tenant, slug := c.any()
		var id string
		return c.pool.QueryRow(ctx, "select id::text from tool_registry where scope_id = $1 and slug = $2", tenant,
			slug).Scan(&id)
	})
	if err != nil {
		return nil, err
	}
	resolve := resolver.New(c.Store, resolver.Options{})
	lookup, err := c.timed(ctx, n, func() error {
		tenant, slug := c.any()
		got, err := resolve.Resolve(ctx, resolver.Request{Principal: c.principal(tenant), Ref: tool.Ref{Slug: slug}})
		if err == nil && (got.Version.Digest != c.digest || got.Tool.Tenant != tenant || got.Tool.Slug != slug) {
			err = fmt.Errorf("tool %s of %s was resolved to another", slug, tenant)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	cached, err := c.cached(ctx, resolve)
	if err != nil {
		return nil, err
	}
	cached.Name += size
	figures := []Figure{
		timesFigure("resolve_database"+size, lookup, floor, "the floor is a bare look-up of the row by its key").
			aimed(bound{of: "p99", value: p99Of, most: true, limit: 5, unit: "ms"}),
		cached,
	}
	pages, err := c.pages(ctx, resolve, size, floor)
	return append(figures, pages...), err
}

// pages measures pages of tools that a filter chose, of a tenant like the others
// and of the one that has the most, and there also by a text that no tool has.
func (c *crowd) pages(
	ctx context.Context, resolve *resolver.Resolver, size string, floor []time.Duration,
) ([]Figure, error) {
	var figures []Figure
	limit := bound{of: "p99", value: p99Of, most: true, limit: 20, unit: "ms"}
	for _, of := range []struct {
		name, search string
		pick         func() tool.TenantID
		each         int
	}{
		{"page_filtered", "TOOL1", func() tool.TenantID { tenant, _ := c.any(); return tenant }, c.each},
		{"page_filtered_largest", "TOOL1", func() tool.TenantID { return c.largest }, c.lab.size.Largest},
		{"page_none_largest", absent, func() tool.TenantID { return c.largest }, c.lab.size.Largest},
	} {
		found := func(n int, first func(i int) string) error {
			if (n == 0) != (of.search == absent) || n > 0 && !strings.HasPrefix(first(0), "tool1") {
				return fmt.Errorf("a page holds %d tools", n)
			}
			return nil
		}
		stored, err := c.timed(ctx, c.lab.size.Lookups/10, func() error {
			got, err := c.ListTools(ctx, of.pick(), registry.ToolQuery{
				Search: of.search, Implementation: tool.HTTP, Limit: 50,
			})
			return cmp.Or(err, found(len(got), func(i int) string { return got[i].Slug }))
		})
		if err != nil {
			return nil, err
		}
		bindable, err := c.timed(ctx, c.lab.size.Lookups/30, func() error {
			got, _, err := resolve.List(ctx, c.principal(of.pick()), tool.Production, resolver.Filter{Search: of.search},
				resolver.Page{Limit: 50})
			return cmp.Or(err, found(len(got), func(i int) string { return got[i].Tool.Slug }))
		})
		if err != nil {
			return nil, err
		}
		note := fmt.Sprintf("50 of %d tools; the floor is a bare look-up", of.each)
		figures = append(figures, timesFigure(of.name+size, stored, floor, note).aimed(limit),
			timesFigure(strings.Replace(of.name, "page", "page_callable", 1)+size, bindable, floor,
				note+"; each is judged as a call of it would be").aimed(limit))
	}
	return figures, nil
}

// absent is a text that no tool has.
const absent = "NOSUCH"

// timed does something n times, one after the other, and returns the sorted
// times. The first tenth warms up.
func (c *crowd) timed(ctx context.Context, n int, do func() error) ([]time.Duration, error) {
	n = max(n, 10)
	times := make([]time.Duration, 0, n)
	for i := range n + n/10 {
		began := time.Now()
		if err := do(); err != nil {
			return nil, err
		}
		if i >= n/10 {
			times = append(times, time.Since(began))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	slices.Sort(times)
	return times, nil
}

func timesFigure(name string, ours, floor []time.Duration, note string) Figure {
	a, b := ms(percentile(ours, 0.5)), ms(percentile(floor, 0.5))
	return Figure{
		Name: name, Unit: "ms", Ratio: a / b, Ours: a, Floor: b, P50: a, P99: ms(percentile(ours, 0.99)), N: len(ours),
		Note: note,
	}
}

// cached measures a look-up of what a run has pinned.
func (c *crowd) cached(ctx context.Context, resolve *resolver.Resolver) (Figure, error) {
	tenant, slug := c.any()
	found, err := resolve.Resolve(ctx, resolver.Request{Principal: c.principal(tenant), Ref: tool.Ref{Slug: slug}})
	if err != nil {
		return Figure{}, err
	}
	const n = 200_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	for range n {
		if _, err := resolve.Version(ctx, tenant, found.Tool.ID, c.digest); err != nil {
			return Figure{}, err
		}
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	allocations := float64(after.Mallocs-before.Mallocs) / n
	f := Figure{
		Name: "resolve_cached", Unit: "µs", Ours: float64(took) / n / float64(time.Microsecond), N: n,
		Note: fmt.Sprintf("%.2f allocations each", allocations),
	}.aimed(bound{of: "ours", value: oursOf, most: true, limit: 1, unit: "µs without allocation"})
	*f.OK = *f.OK && allocations < 0.01 // What else runs allocates too.
	return f, nil
}
