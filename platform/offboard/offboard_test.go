package offboard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/objects"
	"github.com/toolcrib/toolcrib/platform/objects/objectstest"
	"github.com/toolcrib/toolcrib/platform/offboard"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// place is a tenant, and another one, with records, workflows, schedules and files.
type place struct {
	*storetest.Database
	cfg      offboard.Config
	temporal string // Where Temporal is.
	objects  *objectstest.Server
	tenants  [2]store.Tenant
}

// marker is in a payload that is encrypted.
const marker = "marker-of-an-input"

func setup(t *testing.T) *place {
	t.Helper()
	p := &place{Database: storetest.NewDatabase(t), objects: objectstest.New(t)}
	server, err := embedded.StartTemporal(t.Context(), embedded.TemporalConfig{Port: embedded.AnyPort, Headless: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Stop(context.WithoutCancel(t.Context())) })
	p.temporal = server.Address()
	keys, err := payload.ParseKeys(payload.GenerateKey())
	require.NoError(t, err)
	options := client.Options{HostPort: server.Address(), Namespace: embedded.DefaultNamespace}
	payload.Configure(&options, keys)
	temporal, err := client.DialContext(t.Context(), options)
	require.NoError(t, err)
	t.Cleanup(temporal.Close)
	bucket, err := objects.Open(objects.Config{
		Endpoint: p.objects.URL, Region: objectstest.Region, Bucket: objectstest.Bucket, Timeout: 10 * time.Second,
		AccessKeyID: objectstest.AccessKey, SecretAccessKey: objectstest.SecretKey,
	})
	require.NoError(t, err)
	t.Cleanup(bucket.Close)
	p.cfg = offboard.Config{
		Store: p.Platform, Contents: []file.Contents{bucket}, Temporal: temporal, Namespace: embedded.DefaultNamespace,
		Keys: keys, Version: "test", Rows: store.EraseRows{Batch: 3},
	}
	for i := range p.tenants {
		p.tenants[i] = p.fill(t, bucket)
	}
	for _, tenant := range p.tenants {
		require.Eventually(t, func() bool { // What was started is listed a moment later.
			held, err := offboard.Look(t.Context(), p.cfg, tenant.ID, tenant.Slug)
			return err == nil && held.Workflows == 3 && held.Open == 2 && held.Schedules == 1
		}, time.Minute, 200*time.Millisecond)
	}
	return p
}

func (p *place) fill(t *testing.T, bucket file.Contents) store.Tenant {
	t.Helper()
	f := storetest.NewFixture(t, p.Database)
	p.Key(t, f.Tenant)
	tenant, err := p.Platform.FindTenant(t.Context(), string(f.Tenant))
	require.NoError(t, err)
	for _, contents := range []file.Contents{bucket, p.Store.FileContents()} {
		files, err := file.New(file.Config{Store: p.Store, Contents: []file.Contents{contents}})
		require.NoError(t, err)
		_, err = files.Upload(t.Context(), file.Upload{Tenant: f.Tenant, Name: "a.txt"}, []byte("in "+contents.Location()))
		require.NoError(t, err)
	}
	segment := wire.TenantSegment(tenant.ID, tenant.Slug)
	for _, id := range []string{
		wire.NamedWorkflowID(segment, "desk", storetest.NewID(t)), wire.RunWorkflowID(tenant.ID, storetest.NewID(t)),
		wire.NamedWorkflowID(segment, "ended", storetest.NewID(t)),
	} {
		_, err := p.cfg.Temporal.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "no-worker"},
			wire.AgentRunWorkflow, marker)
		require.NoError(t, err)
		if strings.Contains(id, "ended") {
			require.NoError(t, p.cfg.Temporal.TerminateWorkflow(t.Context(), id, "", "it ends"))
		}
	}
	_, err = p.cfg.Temporal.ScheduleClient().Create(t.Context(), client.ScheduleOptions{
		ID: wire.ScheduleID(tenant.ID, f.Schedule(t, "nightly", nil).ID), Paused: true,
		Spec: client.ScheduleSpec{CronExpressions: []string{"0 3 * * *"}},
		Action: &client.ScheduleWorkflowAction{
			ID: wire.NamedWorkflowID(segment, "schedule", "x"), Workflow: "scheduled", TaskQueue: "no-worker",
		},
	})
	require.NoError(t, err)
	return tenant
}

// An export has the contents of both stores and the histories, decoded; what the keys do not open
// stays encrypted, and is counted.
func TestExport(t *testing.T) {
	t.Parallel()

	p := setup(t)
	leaving := p.tenants[0]
	whole := filepath.Join(t.TempDir(), "whole")
	m, err := offboard.Export(t.Context(), p.cfg, leaving.ID, whole)
	require.NoError(t, err)
	require.Equal(t, &offboard.Histories{Workflows: 3, Open: 2}, m.Histories)
	_, faults, err := offboard.Verify(whole)
	require.NoError(t, err)
	require.Empty(t, faults)
	var contents []string
	all, err := filepath.Glob(filepath.Join(whole, "contents", "files", "*"))
	require.NoError(t, err)
	for _, name := range all {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		contents = append(contents, string(raw))
	}
	require.ElementsMatch(t, []string{"in s3", "in postgres"}, contents)
	histories, err := filepath.Glob(filepath.Join(whole, "histories", "*.json"))
	require.NoError(t, err)
	require.Len(t, histories, 3)
	for _, name := range histories {
		raw, err := os.ReadFile(name)
		require.NoError(t, err)
		var history struct{ Events []json.RawMessage }
		require.NoError(t, json.Unmarshal(raw, &history))
		require.NotEmpty(t, history.Events)
		require.Contains(t, string(raw), "Im1hcmtlci1vZi1hbi1pbnB1dCI=", "%q in base64", marker)
	}

	p.cfg.Keys = nil
	sealed := filepath.Join(t.TempDir(), "sealed.tar")
	m, err = offboard.Export(t.Context(), p.cfg, leaving.ID, sealed)
	require.NoError(t, err)
	require.Equal(t, 3, m.Histories.Undecoded)
	_, faults, err = offboard.Verify(sealed)
	require.NoError(t, err)
	require.Empty(t, faults)

	raw, err := os.ReadFile(sealed)
	require.NoError(t, err)
	at := strings.Index(string(raw), "in s3")
	require.Positive(t, at)
	raw[at] = 'I'
	require.NoError(t, os.WriteFile(sealed, raw, 0o600))
	_, faults, err = offboard.Verify(sealed)
	require.NoError(t, err)
	require.Len(t, faults, 1)
	require.Contains(t, faults[0], "contents/files/")

	p.cfg.Contents = nil
	_, err = offboard.Export(t.Context(), p.cfg, leaving.ID, filepath.Join(t.TempDir(), "lacking.tar"))
	storetest.RequireKind(t, tool.Invalid, err)
	require.ErrorContains(t, err, "--s3-bucket")
	left, err := filepath.Glob(filepath.Join(filepath.Dir(sealed), "*"))
	require.NoError(t, err)
	require.Equal(t, []string{sealed}, left, "nothing is left of what was written meanwhile")
}

// An erasure that is interrupted at every step finishes when it is repeated, and leaves nothing in the
// database, in Temporal and in the store of objects, of this tenant alone.
func TestErase(t *testing.T) {
	t.Parallel()

	p := setup(t)
	leaving, other := p.tenants[0], p.tenants[1]
	before, err := offboard.Look(t.Context(), p.cfg, other.ID, other.Slug)
	require.NoError(t, err)
	held, err := offboard.Look(t.Context(), p.cfg, leaving.ID, leaving.Slug)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"s3": 1}, held.Contents)
	_, err = offboard.Erase(t.Context(), p.cfg, leaving.ID)
	storetest.RequireKind(t, tool.Conflict, err)
	_, err = p.Platform.SetTenantStatus(t.Context(), leaving.ID, store.TenantSuspended)
	require.NoError(t, err)
	without := p.cfg
	without.Contents = nil
	_, err = offboard.Erase(t.Context(), without, leaving.ID)
	storetest.RequireKind(t, tool.Invalid, err)
	_, err = p.Platform.FindErasure(t.Context(), leaving.Slug)
	storetest.RequireKind(t, tool.NotFound, err)

	var e store.Erasure
	for tries, done := 0, false; !done; tries++ {
		require.Less(t, tries, 500)
		ctx, stop := context.WithCancel(t.Context())
		steps := 0
		p.cfg.Step = func(string) {
			if steps++; steps > 2+tries {
				stop()
			}
		}
		e, err = offboard.Erase(ctx, p.cfg, leaving.ID)
		done = err == nil
		stop()
	}
	p.cfg.Step = nil
	require.NotNil(t, e.FinishedAt)
	require.Equal(t, int64(1), e.Schedules)
	require.Equal(t, int64(1), e.Objects)
	require.GreaterOrEqual(t, e.Workflows, int64(3))
	after, err := offboard.Look(t.Context(), p.cfg, leaving.ID, leaving.Slug)
	require.NoError(t, err)
	require.True(t, after.None(), "%+v", after)
	require.Len(t, p.objects.Objects(), 1, "the other tenant's is left")
	require.Contains(t, p.objects.Objects()[0], string(other.ID))
	still, err := offboard.Look(t.Context(), p.cfg, other.ID, other.Slug)
	require.NoError(t, err)
	require.Equal(t, unsealed(before), unsealed(still))
	_, err = p.cfg.Temporal.DescribeWorkflowExecution(t.Context(), "t/"+leaving.Slug+"."+string(leaving.ID)+"/ended/x", "")
	var gone *serviceerror.NotFound
	require.ErrorAs(t, err, &gone)
	again, err := offboard.Erase(t.Context(), p.cfg, leaving.ID)
	require.NoError(t, err)
	require.Equal(t, e, again)
}

// unsealed leaves out what sealers add at any moment.
func unsealed(h offboard.Held) offboard.Held {
	h.Rows = slices.DeleteFunc(slices.Clone(h.Rows), func(r store.TableRows) bool {
		return r.Table == "audit_heads" || r.Table == "event_seals" || r.Table == "tenant_event_heads"
	})
	return h
}

// run runs a command of an operator, and returns its exit code and what it printed.
func (p *place) run(t *testing.T, args ...string) (code int, out string) {
	t.Helper()
	var printed bytes.Buffer
	env := cli.Env{
		Environ: []string{
			cli.DatabaseVariable + "=" + p.URL, "TEMPORAL_ADDRESS=" + p.temporal,
			"TEMPORAL_NAMESPACE=" + embedded.DefaultNamespace, "TOOLCRIB_S3_BUCKET=" + objectstest.Bucket,
			"TOOLCRIB_S3_ENDPOINT=" + p.objects.URL, "TOOLCRIB_S3_REGION=" + objectstest.Region,
			"TOOLCRIB_S3_ACCESS_KEY_ID=" + objectstest.AccessKey, "TOOLCRIB_S3_SECRET_ACCESS_KEY=" + objectstest.SecretKey,
		},
		In: strings.NewReader(""), Out: &printed, Err: &printed, Dir: t.TempDir(),
	}
	return cli.Run(t.Context(), env, args, commands.New, operator.New), printed.String()
}

// An operator looks, suspends, erases and verifies; what is refused says what to do.
func TestEraseByCommands(t *testing.T) {
	t.Parallel()

	p := setup(t)
	leaving, other := p.tenants[0], p.tenants[1]
	code, out := p.run(t, "tenant", "erase", leaving.Slug, "--json")
	require.Equal(t, cli.ExitOK, code, out)
	var looked struct {
		DryRun bool `json:"dry_run"`
		Held   offboard.Held
	}
	require.NoError(t, json.Unmarshal([]byte(out), &looked))
	require.True(t, looked.DryRun)
	require.Equal(t, int64(3), looked.Held.Workflows)
	code, out = p.run(t, "tenant", "erase", leaving.Slug)
	require.Equal(t, cli.ExitOK, code, out)
	require.Regexp(t, `runs +1\n`, out)
	require.Contains(t, out, "nothing was deleted")
	code, out = p.run(t, "tenant", "erase", leaving.Slug, "--confirm", leaving.Slug)
	require.Equal(t, cli.ExitConflict, code, out)
	require.Contains(t, out, "suspend it first")
	code, out = p.run(t, "tenant", "erase", leaving.Slug, "--verify")
	require.Equal(t, cli.ExitConflict, code, out)

	code, out = p.run(t, "tenant", "suspend", leaving.Slug)
	require.Equal(t, cli.ExitOK, code, out)
	code = cli.ExitUnavailable
	for tries := 0; code == cli.ExitUnavailable && tries < 5; tries++ { // As it says, while Temporal is busy.
		code, out = p.run(t, "tenant", "erase", leaving.Slug, "--confirm", leaving.Slug)
	}
	require.Equal(t, cli.ExitOK, code, out)
	require.Contains(t, out, "nothing is left of "+leaving.Slug)
	for _, name := range []string{leaving.Slug, string(leaving.ID)} {
		code, out = p.run(t, "tenant", "erase", name, "--verify")
		require.Equal(t, cli.ExitOK, code, out)
	}
	code, out = p.run(t, "tenant", "create", leaving.Slug)
	require.Equal(t, cli.ExitConflict, code, out)
	require.Contains(t, out, "was erased")
	code, out = p.run(t, "tenant", "export", other.Slug, "--to", filepath.Join(t.TempDir(), "other.tar"), "--histories")
	require.Equal(t, cli.ExitOK, code, out)
	require.Contains(t, out, "3 workflows, 2 had not ended, 3 not decoded")
}
