package chaos_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/agent"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	platformclient "github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// desk is a site whose runs wait: for the approval of a refund, or for an answer from outside.
type desk struct {
	*site
	approver []*platformclient.Client // Of each server, with the key of somebody else.
	waiting  map[string]string        // What each run waits for: the id of its invocation.
	want     map[string]tool.InvocationStatus
}

// applyWaits publishes tools whose calls wait, and an agent for each.
func (d *desk) applyWaits() {
	d.t.Helper()
	var in v1.Apply
	for _, definition := range []string{
		fmt.Sprintf(`{"kind":"tool","slug":"refundIt","description":"Refunds.","implementation_type":"http",
			"egress_class":"write","implementation_config":{"url":"%s/refundIt?v=1","method":"POST"},"publish":true,
			"input_schema":{"type":"object","properties":{"q":{"type":"string"}}}}`, d.upstream.URL),
		`{"kind":"tool","slug":"askIt","description":"Asks.","implementation_type":"client","egress_class":"none","publish":true,
			"input_schema":{"type":"object","properties":{"q":{"type":"string"}}},"execution":{"timeout_s":600}}`,
		`{"kind":"agent","slug":"refunds","instructions":"Refund.","model":"scripted/refunds","tools":["refundIt"],"publish":true}`,
		`{"kind":"agent","slug":"asks","instructions":"Ask.","model":"scripted/asks","tools":["askIt"],"publish":true}`,
	} {
		in.Definitions = append(in.Definitions, json.RawMessage(definition))
	}
	applied, err := d.clients[0].Apply(d.t.Context(), in)
	require.NoError(d.t, err)
	for _, item := range applied.Items {
		require.Nil(d.t, item.Error, "%v", item.Error)
	}
}

// addApprover makes the key of somebody who decides and answers.
func (d *desk) addApprover() {
	d.t.Helper()
	db, err := store.Open(d.t.Context(), d.cluster.url(), store.Options{
		SetRole: store.AppRole, Logger: quiet(), MaxConns: 1,
	})
	require.NoError(d.t, err)
	defer db.Close()
	_, key, err := db.CreateKey(d.t.Context(), store.Key{Tenant: d.tenant, Name: "approver", Permissions: []string{"*"}})
	require.NoError(d.t, err)
	for _, address := range d.addresses {
		c, err := platformclient.New(platformclient.Config{Server: "http://" + address, Key: key, Timeout: 20 * time.Second})
		require.NoError(d.t, err)
		d.t.Cleanup(c.Close)
		d.approver = append(d.approver, c)
	}
}

// begin starts a number of runs of an agent, and waits until the call of each waits.
func (d *desk) begin(name string, n int) (runs []string) {
	d.t.Helper()
	for range n {
		run, err := d.clients[0].StartRun(d.t.Context(), v1.NewRun{Agent: name, Input: []byte(`"go"`)})
		require.NoError(d.t, err)
		d.promise(run.ID)
		runs = append(runs, run.ID)
	}
	for _, run := range runs {
		require.Eventually(d.t, func() bool {
			d.waiting[run] = d.pending(run)
			return d.waiting[run] != ""
		}, patience, 50*time.Millisecond, "run %s of %s does not wait", run, name)
	}
	return runs
}

// pending returns the invocation that a run waits for, if it does.
func (d *desk) pending(run string) string {
	asked, err := d.approver[0].ListApprovals(d.t.Context(), platformclient.ApprovalQuery{Run: run, Status: wait.Pending})
	if err != nil {
		return ""
	}
	for _, a := range asked.Items {
		return a.ID
	}
	called, err := d.approver[0].ListPendingCalls(d.t.Context(), platformclient.PendingCallQuery{
		Run: run, Status: wait.CallWaiting,
	})
	if err != nil {
		return ""
	}
	for _, c := range called.Items {
		return c.ID
	}
	return ""
}

// act ends the wait of a run as its call is to end.
func (d *desk) act(c *platformclient.Client, run string, outside bool) (err error) {
	switch id := d.waiting[run]; {
	case outside:
		_, err = c.SubmitResult(d.t.Context(), id, v1.NewResult{Result: json.RawMessage(`{"n":1}`)})
	case d.want[run] == tool.StatusRejected:
		_, err = c.Reject(d.t.Context(), id, v1.Reject{Reason: "too much"})
	default:
		_, err = c.Approve(d.t.Context(), id, v1.Approve{})
	}
	return err
}

// end ends the waits of runs, all at once. It tries again while the service is not available, as
// a client does that goes on.
func (d *desk) end(ends map[string]tool.InvocationStatus, answered ...string) {
	d.t.Helper()
	var group errgroup.Group
	maps.Copy(d.want, ends)
	for _, run := range answered {
		d.want[run] = tool.StatusCompleted
	}
	insist := func(run string, outside bool) {
		group.Go(func() (err error) {
			for i, until := 0, time.Now().Add(patience); time.Now().Before(until); i++ {
				err = d.act(d.approver[i%len(d.approver)], run, outside)
				if tool.KindOf(err) != tool.Unavailable {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			return err
		})
	}
	for run := range ends {
		insist(run, false)
	}
	for _, run := range answered {
		insist(run, true)
	}
	require.NoError(d.t, group.Wait())
}

// requireWaiting checks that runs wait for what they waited for before.
func (d *desk) requireWaiting(runs ...string) {
	d.t.Helper()
	for _, run := range runs {
		require.Eventually(d.t, func() bool { return d.pending(run) == d.waiting[run] }, patience, 50*time.Millisecond)
	}
}

// requireEnded waits until runs are completed, with calls that ended as was decided.
func (d *desk) requireEnded(runs ...string) {
	d.t.Helper()
	for _, run := range runs {
		var found v1.Run
		require.Eventually(d.t, func() bool {
			var err error
			found, err = d.clients[0].Run(d.t.Context(), run)
			return err == nil && found.Status.Final()
		}, patience, 50*time.Millisecond, "run %s does not end", run)
		require.Equal(d.t, agent.RunCompleted, found.Status)
		rows := query[struct{ ID, Status string }](d.t.Context(), d.site,
			`select id::text, status from tool_invocations where tenant_id = $1 and run_id = $2`, d.tenant, run)
		require.Len(d.t, rows, 1)
		require.Equal(d.t, d.waiting[run], rows[0].ID)
		require.Equal(d.t, string(d.want[run]), rows[0].Status)
	}
}

// Runs wait for approvals and for answers from outside, while PostgreSQL crashes, Temporal
// restarts, and the servers and workers die. What is decided while Temporal is away counts, and
// is delivered later; what is decided while PostgreSQL is away is refused. All runs end as was
// decided.
func TestWaitsOutliveRestarts(t *testing.T) {
	t.Parallel()
	s := newSiteIn(t, t.TempDir())
	d := &desk{site: s, waiting: map[string]string{}, want: map[string]tool.InvocationStatus{}}
	d.addApprover()
	d.applyWaits()
	refunds, asks := d.begin("refunds", 6), d.begin("asks", 4)
	all := slices.Concat(refunds, asks)
	ctx := context.WithoutCancel(t.Context())

	const completed, rejected = tool.StatusCompleted, tool.StatusRejected

	d.want[refunds[0]] = completed
	require.NoError(t, s.cluster.crashFor(ctx, func() {
		for _, c := range d.approver {
			require.Equal(t, tool.Unavailable, tool.KindOf(d.act(c, refunds[0], false)))
			require.Equal(t, tool.Unavailable, tool.KindOf(d.act(c, asks[0], true)))
		}
	}))
	d.requireWaiting(all...)
	// The approval was not recorded.
	d.end(map[string]tool.InvocationStatus{refunds[0]: rejected}, asks[0])
	d.requireEnded(refunds[0], asks[0])

	require.NoError(t, s.backend.restart(ctx, func() {
		d.end(map[string]tool.InvocationStatus{
			refunds[1]: completed, refunds[2]: rejected, refunds[3]: completed,
		}, asks[1])
		_, total := s.upstream.received()
		require.Zero(t, total, "no workflow can go on")
		// Others deliver what these servers were told, once Temporal is there.
		for _, p := range slices.Concat(s.servers, s.workers) {
			p.signal(syscall.SIGKILL)
		}
	}))
	d.requireEnded(refunds[1], refunds[2], refunds[3], asks[1])
	d.requireWaiting(refunds[4], refunds[5], asks[2], asks[3])

	require.NoError(t, s.cluster.crash(ctx))
	d.end(map[string]tool.InvocationStatus{refunds[4]: completed, refunds[5]: rejected}, asks[2], asks[3])
	d.requireEnded(all...)

	s.check()
	requests, total := s.upstream.received()
	require.Len(t, requests, 3, "what was approved is sent")
	require.Equal(t, 3, total, "and once")
	for what, sql := range map[string]string{
		"requests":  `select id::text from approvals where status = 'pending' or deliver_at is not null`,
		"calls":     `select id::text from pending_tool_calls where status in ('waiting', 'pending') or deliver_at is not null`,
		"decisions": `select approval_id::text from approval_decisions group by 1 having count(*) > 1`,
	} {
		require.Eventually(t, func() bool {
			return len(query[struct{ ID string }](t.Context(), s, sql)) == 0
		}, patience, 100*time.Millisecond, "%s are left", what)
	}
}
