package store_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/quota"
	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// quotaTest is a tenant whose quotas are tested.
type quotaTest struct {
	*storetest.Database

	tenant tool.TenantID
	shelf  *storetest.Shelf
	art    artifact.Artifact
}

func newQuotaTest(t *testing.T, d *storetest.Database) *quotaTest {
	t.Helper()
	q := &quotaTest{Database: d, tenant: d.Tenant(t)}
	q.shelf = storetest.NewShelf(t, d.Store, retrieval.Pipeline{Tenant: q.tenant})
	var err error
	q.art, err = d.Store.CreateArtifact(t.Context(), artifact.Artifact{
		Tenant: q.tenant, Slug: "first", Language: "jq", Status: definition.ArtifactActive,
	})
	require.NoError(t, err)
	return q
}

// creations make one thing of a tenant, the n-th, that counts for a quota. Things of bytes have four.
var creations = map[quota.Name]func(t *testing.T, q *quotaTest, n int) error{
	quota.Tools: func(t *testing.T, q *quotaTest, n int) error {
		t.Helper()
		_, err := q.Store.CreateTool(t.Context(), tool.Tool{
			Tenant: q.tenant, Slug: "t" + strconv.Itoa(n), Status: tool.Draft, Active: true, Version: "1.0.0",
			Definition: tool.Definition{Name: "T", Implementation: tool.HTTP},
		})
		return err
	},
	quota.Agents: func(t *testing.T, q *quotaTest, n int) error {
		t.Helper()
		_, err := q.Store.CreateAgent(t.Context(), agent.Agent{
			Tenant: q.tenant, Slug: "a" + strconv.Itoa(n), Status: tool.Draft, Version: "1.0.0",
			Definition: agent.Definition{Name: "A", Instructions: "Help.", Model: "scripted/a"},
		})
		return err
	},
	quota.Documents:    putDocument,
	quota.StorageBytes: putFile,
	quota.Artifacts: func(t *testing.T, q *quotaTest, n int) error {
		t.Helper()
		_, err := q.Store.CreateArtifact(t.Context(), artifact.Artifact{
			Tenant: q.tenant, Slug: "p" + strconv.Itoa(n), Language: "jq", Status: definition.ArtifactActive,
		})
		return err
	},
	quota.IdempotencyKeys: func(t *testing.T, q *quotaTest, n int) error {
		t.Helper()
		_, err := q.Store.BeginRequest(t.Context(), store.RequestKey{Tenant: q.tenant, Text: strconv.Itoa(n)},
			strings.Repeat("0", 64), time.Minute, time.Hour)
		return err
	},
}

func putDocument(t *testing.T, q *quotaTest, n int) error {
	t.Helper()
	_, _, err := q.Store.PutDocument(t.Context(), retrieval.Document{
		Tenant: q.tenant, PipelineID: q.shelf.Pipeline.ID, Key: strconv.Itoa(n), MediaType: retrieval.Plain,
	}, []byte(fmt.Sprintf("%04d", n)))
	return err
}

func putFile(t *testing.T, q *quotaTest, n int) error {
	t.Helper()
	return q.Store.AddFile(t.Context(), file.File{
		ID: storetest.NewID(t), Tenant: q.tenant, Name: strconv.Itoa(n), MediaType: file.PNG, Size: 4,
		SHA256: strings.Repeat("0", 64), Kind: file.Uploaded, Location: "postgres",
	}, file.Quota{TenantBytes: 1 << 40})
}

func (q *quotaTest) set(t *testing.T, name quota.Name, most int64) {
	t.Helper()
	require.NoError(t, q.Platform.Quotas().SetQuota(t.Context(), quota.Rule{
		Tenant: q.tenant, Name: name, Limit: &most, ChangedBy: "platform",
	}))
}

func (q *quotaTest) of(t *testing.T, name quota.Name) quota.Quota {
	t.Helper()
	all, err := q.Store.ListQuotas(t.Context(), q.tenant)
	require.NoError(t, err)
	require.Len(t, all, len(quota.All()))
	for _, one := range all {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("no quota %s", name)
	return quota.Quota{}
}

// requireCounted holds the counts to what the tenant has.
func (q *quotaTest) requireCounted(t *testing.T) {
	t.Helper()
	wrong, err := q.Platform.Quotas().VerifyQuotas(t.Context(), q.tenant, false)
	require.NoError(t, err)
	require.Empty(t, wrong)
}

// A quota holds exactly, however many make things at once; another tenant is not held up, and a
// higher quota lets more be made.
func TestQuotasHoldExactly(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	const most, tries = 50, 100
	for name, create := range creations {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			q, other := newQuotaTest(t, d), newQuotaTest(t, d)
			each := int64(1)
			if name == quota.StorageBytes {
				each = 4
			}
			before := q.of(t, name).Used
			q.set(t, name, most*each+before)

			failed := make([]error, tries)
			var group sync.WaitGroup
			for i := range tries {
				group.Go(func() { failed[i] = create(t, q, i) })
			}
			group.Wait()
			made := int64(0)
			for _, err := range failed {
				if err == nil {
					made++
					continue
				}
				requireExceeded(t, err, quota.ExceededError{
					Name: name, Limit: most*each + before, Used: most*each + before, More: each,
				})
			}
			require.EqualValues(t, most, made)
			got := q.of(t, name)
			require.Equal(t, most*each+before, got.Used)
			require.Equal(t, quota.OfTenant, got.Origin)
			require.Equal(t, most*each+before, *got.Limit)
			require.NoError(t, create(t, other, 0), "another tenant is not held up")
			require.Nil(t, other.of(t, name).Limit)
			q.requireCounted(t)
			other.requireCounted(t)

			q.set(t, name, (most+1)*each+before)
			require.NoError(t, create(t, q, tries))
			require.Error(t, create(t, q, tries+1))
		})
	}
}

func requireExceeded(t *testing.T, err error, want quota.ExceededError) {
	t.Helper()
	kind := tool.Conflict
	if want.Name == quota.IdempotencyKeys {
		kind = tool.RateLimited
	}
	storetest.RequireKind(t, kind, err)
	var over *quota.ExceededError
	require.ErrorAs(t, err, &over)
	require.Equal(t, want, *over)
	said := tool.AsError(err)
	require.Contains(t, said.Msg, strconv.Quote(string(want.Name)))
	require.Contains(t, said.Msg, strconv.FormatInt(want.Limit, 10))
	require.Contains(t, said.Msg, "ask the operator")
	require.Equal(t, kind == tool.RateLimited, said.RetryAfter > 0)
}

// What is deleted makes room, and what is replaced counts as it is now.
func TestDeletionFreesQuotas(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	q := newQuotaTest(t, d)

	made, err := d.Store.CreateTool(t.Context(), tool.Tool{
		Tenant: q.tenant, Slug: "searchOrders", Status: tool.Draft, Active: true, Version: "1.0.0",
		Definition: tool.Definition{Name: "T", Implementation: tool.HTTP},
	})
	require.NoError(t, err)
	q.set(t, quota.Tools, 1)
	require.Error(t, creations[quota.Tools](t, q, 1))
	require.NoError(t, d.Store.DeleteTool(t.Context(), made))
	require.NoError(t, creations[quota.Tools](t, q, 1))
	q.requireCounted(t)

	long := q.shelf.Put(t, "k", strings.Repeat("a", 100))
	require.EqualValues(t, 100, q.of(t, quota.StorageBytes).Used)
	q.set(t, quota.StorageBytes, 120)
	requireExceeded(t, putBytes(t, q, "k", 121),
		quota.ExceededError{Name: quota.StorageBytes, Limit: 120, Used: 100, More: 21})
	require.NoError(t, putBytes(t, q, "k", 110))
	require.NoError(t, putBytes(t, q, "k", 10))
	require.EqualValues(t, 10, q.of(t, quota.StorageBytes).Used)
	require.EqualValues(t, 1, q.of(t, quota.Documents).Used)
	require.NoError(t, d.Store.DeleteDocument(t.Context(), q.tenant, q.shelf.Pipeline.ID, long.ID))
	require.Zero(t, q.of(t, quota.StorageBytes).Used)
	require.Zero(t, q.of(t, quota.Documents).Used)

	for n := range 3 {
		require.NoError(t, putDocument(t, q, n))
	}
	require.NoError(t, d.Store.DeletePipeline(t.Context(), q.shelf.Pipeline))
	q.requireCounted(t)

	id := storetest.NewID(t)
	require.NoError(t, d.Store.AddFile(t.Context(), file.File{
		ID: id, Tenant: q.tenant, Name: "plan", MediaType: file.PNG, Size: 100, SHA256: strings.Repeat("0", 64),
		Kind: file.Uploaded, Location: "postgres",
	}, file.Quota{TenantBytes: 1 << 40}))
	used := q.of(t, quota.StorageBytes).Used
	_, err = d.Store.DeleteFile(t.Context(), q.tenant, id)
	require.NoError(t, err)
	require.Equal(t, used-100, q.of(t, quota.StorageBytes).Used)

	require.NoError(t, creations[quota.IdempotencyKeys](t, q, 1))
	q.set(t, quota.IdempotencyKeys, 1)
	require.Error(t, creations[quota.IdempotencyKeys](t, q, 2))
	require.NoError(t, creations[quota.IdempotencyKeys](t, q, 1), "a request that is repeated takes no more")
	_, err = d.Conn(t).Exec(t.Context(), "update idempotency_keys set expires_at = now() where tenant_id = $1", q.tenant)
	require.NoError(t, err)
	_, err = d.Store.SweepRequests(t.Context())
	require.NoError(t, err)
	require.Zero(t, q.of(t, quota.IdempotencyKeys).Used)
	require.NoError(t, creations[quota.IdempotencyKeys](t, q, 2))
	q.requireCounted(t)
}

func putBytes(t *testing.T, q *quotaTest, key string, n int) error {
	t.Helper()
	_, _, err := q.Store.PutDocument(t.Context(), retrieval.Document{
		Tenant: q.tenant, PipelineID: q.shelf.Pipeline.ID, Key: key, MediaType: retrieval.Plain,
	}, []byte(strings.Repeat("b", n)))
	return err
}

// Versions of artifacts count by their bytes.
func TestArtifactBytesAreLimited(t *testing.T) {
	t.Parallel()
	q := newQuotaTest(t, storetest.NewDatabase(t))
	q.set(t, quota.ArtifactBytes, 10)
	head, _, err := q.Store.AddArtifactVersion(t.Context(), q.art, artifact.Version{Number: "1.0.0"}, []byte("123456"))
	require.NoError(t, err)
	_, _, err = q.Store.AddArtifactVersion(t.Context(), head, artifact.Version{Number: "1.0.1"}, []byte("12345"))
	requireExceeded(t, err, quota.ExceededError{Name: quota.ArtifactBytes, Limit: 10, Used: 6, More: 5})
	_, _, err = q.Store.AddArtifactVersion(t.Context(), head, artifact.Version{Number: "1.0.1"}, []byte("1234"))
	require.NoError(t, err)
	require.EqualValues(t, 10, q.of(t, quota.ArtifactBytes).Used)
	q.requireCounted(t)
}

// A tenant's own quota comes before that of all, also where it is none; both are audited.
func TestQuotasOfAllAndOfOne(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	q := newQuotaTest(t, d)
	quotas := d.Platform.Quotas()
	ctx := audit.With(t.Context(), audit.Actor{Kind: audit.CLI, Subject: "ada"})
	require.NoError(t, quotas.SetQuota(ctx, quota.Rule{Name: quota.Tools, Limit: new(int64(1)), ChangedBy: "platform"}))
	require.Equal(t, quota.OfPlatform, q.of(t, quota.Tools).Origin)
	require.NoError(t, creations[quota.Tools](t, q, 1))
	require.Error(t, creations[quota.Tools](t, q, 2))
	require.NoError(t, quotas.SetQuota(ctx, quota.Rule{Tenant: q.tenant, Name: quota.Tools, ChangedBy: "platform"}))
	require.NoError(t, creations[quota.Tools](t, q, 2))
	require.Nil(t, q.of(t, quota.Tools).Limit)
	require.Equal(t, quota.OfTenant, q.of(t, quota.Tools).Origin)
	require.NoError(t, quotas.UnsetQuota(ctx, q.tenant, quota.Tools))
	require.Error(t, creations[quota.Tools](t, q, 3))
	storetest.RequireKind(t, tool.NotFound, quotas.UnsetQuota(ctx, q.tenant, quota.Tools))
	defaults, err := quotas.QuotaDefaults(t.Context())
	require.NoError(t, err)
	require.Len(t, defaults, 1)
	require.EqualValues(t, 1, *defaults[0].Limit)
	listed, err := quotas.ListQuotas(t.Context(), q.tenant)
	require.NoError(t, err)
	require.Equal(t, q.of(t, quota.Tools), listed[0], "the platform reads what the tenant reads")

	own := entries(t, d.Store, q.tenant)
	require.Equal(t, []string{"quota.created", "quota.deleted"}, only(own, "quota"))
	for _, e := range own {
		if e.Object.Kind == "quota" {
			require.Equal(t, "tools", e.Object.Name)
			require.Equal(t, "ada", e.Actor.Subject)
		}
	}
	require.Equal(t, []string{"quota.created"}, only(entries(t, d.Platform.Audit(), ""), "quota"))

	for _, wrong := range []quota.Rule{
		{Name: "elephants", Limit: new(int64(1))},
		{Name: quota.Tools, Limit: new(int64(-1))},
		{Name: quota.Tools, Limit: new(int64(quota.MaxLimit + 1))},
		{Name: quota.Runs, Limit: new(int64(5))},
		{Tenant: q.tenant, Name: quota.Runs},
		{Tenant: q.tenant, Name: quota.Runs, Limit: new(int64(0))},
	} {
		storetest.RequireKind(t, tool.Invalid, quotas.SetQuota(ctx, wrong))
	}
	storetest.RequireKind(t, tool.NotFound, quotas.SetQuota(ctx, quota.Rule{
		Tenant: tool.TenantID(storetest.NewID(t)), Name: quota.Tools, Limit: new(int64(1)),
	}))
}

func only(all []audit.Entry, kind string) (actions []string) {
	for _, e := range all {
		if e.Object.Kind == kind {
			actions = append(actions, string(e.Action))
		}
	}
	return actions
}

// The quota of runs is the tenant's limit of unfinished runs.
func TestQuotaOfRuns(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	f := storetest.NewFixture(t, d)
	q := &quotaTest{Database: d, tenant: f.Tenant}
	require.Nil(t, q.of(t, quota.Runs).Limit)
	require.EqualValues(t, 1, q.of(t, quota.Runs).Used)
	q.set(t, quota.Runs, 2)
	require.EqualValues(t, 2, *q.of(t, quota.Runs).Limit)
	a := f.Acceptance(t)
	_, err := f.Store.AcceptRun(t.Context(), a)
	require.NoError(t, err)
	_, err = f.Store.AcceptRun(t.Context(), f.Acceptance(t))
	storetest.RequireKind(t, tool.RateLimited, err)
	var over *quota.ExceededError
	require.ErrorAs(t, err, &over)
	require.Equal(t, quota.ExceededError{Name: quota.Runs, Limit: 2, Used: 2, More: 1}, *over)
	require.NoError(t, d.Platform.Quotas().UnsetQuota(t.Context(), f.Tenant, quota.Runs))
	require.Nil(t, q.of(t, quota.Runs).Limit)
}

// Counts that are wrong are found and corrected, while others count on.
func TestCountsAreRepaired(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	q := newQuotaTest(t, d)
	for n := range 3 {
		require.NoError(t, creations[quota.Tools](t, q, n))
		require.NoError(t, creations[quota.IdempotencyKeys](t, q, n))
	}
	_, err := d.Conn(t).Exec(t.Context(), `update quota_counts set used = used + 7
		where tenant_id = $1 and name in ('tools', 'idempotency_keys')
		and (name, part) in (select name, min(part) from quota_counts where tenant_id = $1 group by name)`, q.tenant)
	require.NoError(t, err)
	wrong, err := d.Platform.Quotas().VerifyQuotas(t.Context(), q.tenant, false)
	require.NoError(t, err)
	require.Equal(t, []quota.Difference{
		{Name: quota.IdempotencyKeys, Counted: 10, Found: 3}, {Name: quota.Tools, Counted: 10, Found: 3},
	}, wrong)

	const more = 20
	var group sync.WaitGroup
	failed := make([]error, more)
	for i := range more {
		group.Go(func() { failed[i] = creations[quota.Tools](t, q, 100+i) })
	}
	repaired := make([]error, 3)
	for i := range repaired {
		group.Go(func() { _, repaired[i] = d.Platform.Quotas().VerifyQuotas(t.Context(), q.tenant, true) })
	}
	group.Wait()
	for _, err := range slices.Concat(failed, repaired) {
		require.NoError(t, err)
	}
	q.requireCounted(t)
	require.EqualValues(t, 3+more, q.of(t, quota.Tools).Used)
}

// A tenant can be deleted with all that was counted.
func TestCountsGoWithTheirTenant(t *testing.T) {
	t.Parallel()
	d := storetest.NewDatabase(t)
	q := newQuotaTest(t, d)
	for name, create := range creations {
		require.NoError(t, create(t, q, 1), name)
	}
	conn := d.Conn(t)
	_, err := conn.Exec(t.Context(), "delete from tenants where id = $1", q.tenant)
	require.NoError(t, err)
	require.Empty(t, texts(t, conn, "select name from quota_counts where tenant_id = $1", q.tenant))
}
