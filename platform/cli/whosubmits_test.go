package cli_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// Entry points that take results of calls.
const (
	byRun      = "by run"
	byCall     = "by call"
	byCommand  = "by command"
	byExecutor = "by executor"
)

// submitters is every entry point.
var submitters = []string{byRun, byCall, byCommand, byExecutor}

// submission is a result that is submitted.
type submission struct {
	key             string
	id, run, callID string
	slug            string
	result          string
	isError         bool
	before          func() // Happens right before it is submitted.
}

// submit submits a result by an entry point.
func (s *shell) submit(t *testing.T, way string, sub submission) outcome {
	t.Helper()
	if way == byExecutor {
		return s.execute(t, sub)
	}
	sub.before()
	body := fmt.Sprintf(`"result":%s,"is_error":%t`, sub.result, sub.isError)
	switch way {
	case byRun:
		return s.endpoint(t, "/v1/runs/"+sub.run+"/tool-results", `{"call_id":"`+sub.callID+`",`+body+`}`, sub.key)
	case byCall:
		return s.endpoint(t, "/v1/pending-tool-calls/"+sub.id+"/result", `{`+body+`}`, sub.key)
	default:
		args := []string{"results", "submit", sub.id, "--result", sub.result}
		if sub.isError {
			args = append(args, "--error")
		}
		return s.command(t, sub.key, args...)
	}
}

// submitting is a tenant whose tools are answered from outside.
type submitting struct{ *callers }

func setupSubmitting(t *testing.T) *submitting {
	t.Helper()
	d := &submitting{setupCallers(t, wait.SubmitPermission)}
	d.add(t, "others", store.Key{Permissions: []string{"runs.read", "runs.write", "approvals.decide", "tools.write"}})
	return d
}

// seats makes a tool of its own, whose results have a seat.
func (d *submitting) seats(t *testing.T) tool.VersionIdentity {
	t.Helper()
	slug := "pickSeat" + uuid.NewString()[:8]
	return d.publish(t, slug, `{"kind":"tool","slug":"`+slug+`","description":"Picks a seat.",
		"implementation_type":"client","version":"1.0.0","publish":true,"open_input":true,"input_schema":{"type":"object"},
		"output_schema":{"type":"object","required":["seat"],"properties":{"seat":{"type":"string"}}}}`)
}

// offer records a call of the version.
func (d *submitting) offer(t *testing.T, version tool.VersionIdentity, identity tool.CallIdentity) wait.Call {
	t.Helper()
	entry := ledger.Entry{
		CallIdentity: identity, VersionIdentity: version, Arguments: json.RawMessage(`{"password":"hunter22-secret"}`),
	}
	ticket, err := d.Store.Admit(t.Context(), ledger.AdmitRequest{Entry: entry})
	require.NoError(t, err)
	c, err := d.Store.OfferCall(t.Context(), wait.Offer{
		Entry: entry, Fence: ticket.Fence, WorkflowID: "w", Shown: true, Timeout: time.Minute,
	})
	require.NoError(t, err)
	return c
}

func (d *submitting) find(t *testing.T, id string) wait.Call {
	t.Helper()
	found, err := d.Store.FindCall(t.Context(), d.tenant, id)
	require.NoError(t, err)
	return found
}

// Every entry point that takes a result refuses alike, says why, and leaves the call as it was. Who
// may submit does, and a call keeps its first result.
func TestWhoMaySubmit(t *testing.T) {
	t.Parallel()

	d := setupSubmitting(t)
	for _, way := range submitters {
		for _, rule := range submitRules() {
			if len(rule.only) > 0 && !slices.Contains(rule.only, way) {
				continue
			}
			t.Run(way+"/"+rule.name, func(t *testing.T) {
				t.Parallel()
				c := d.offer(t, d.seats(t), callOf(d.runOf(t, "user:ada"), 0))
				sub := submission{
					key: d.keys[rule.key], id: c.ID, run: c.RunID, callID: c.CallID, slug: c.Slug, result: rule.result,
					isError: rule.isError, before: func() {},
				}
				if rule.token != nil {
					sub.key = rule.token(t, d, c)
				}
				if sub.result == "" {
					sub.result = `{"seat":"12A"}`
				}
				if rule.change != nil {
					rule.change(t, d, c, &sub)
				}
				if rule.since != nil {
					sub.before = func() { rule.since(t, d, c, sub.key) }
				}
				d.check(t, way, rule, c, sub)
			})
		}
	}
}

func (d *submitting) check(t *testing.T, way string, rule submitRule, c wait.Call, sub submission) {
	t.Helper()
	want, before := rule.at(way), wait.Call{}
	happens := sub.before
	sub.before = func() {
		happens()
		before = d.find(t, c.ID)
	}
	if way == byExecutor { // It may never get as far as an answer.
		before = d.find(t, c.ID)
	}
	got := d.submit(t, way, sub)
	calls, err := d.Store.ListCalls(t.Context(), wait.CallQuery{Tenant: d.tenant, RunID: c.RunID, Limit: 10})
	require.NoError(t, err)
	for _, other := range calls {
		require.True(t, other.ID == c.ID || other.Status == wait.CallWaiting, "other calls of the run wait")
	}
	if want.class == "" {
		d.requireTaken(t, way, rule, got, sub)
		return
	}
	if way == byExecutor && want.class == string(tool.NotFound) {
		require.Nil(t, got.problem, got.text)
		require.True(t, got.unseen)
	} else {
		secrets := []string{"hunter22-secret", "user:ada", string(d.tenant), string(d.other), string(c.Key)}
		if sub.key != "" {
			secrets = append(secrets, sub.key)
		}
		if want.class != string(tool.Invalid) {
			secrets = append(secrets, "12A", c.Slug)
		}
		got.requireRefused(t, want, secrets...)
	}
	if way == byExecutor && want.class == string(tool.Invalid) { // The caller learns why, and does not wait.
		result := d.find(t, c.ID).Result
		require.NotNil(t, result)
		require.True(t, result.IsError)
		require.Contains(t, result.Content[0].Text, "the answer was refused")
		return
	}
	require.Equal(t, before, d.find(t, c.ID))
}

// requireTaken checks that the call has its result: that which was submitted, or the one that it
// had before.
func (d *submitting) requireTaken(t *testing.T, way string, rule submitRule, got outcome, sub submission) {
	t.Helper()
	require.Nil(t, got.problem, got.text)
	require.Equal(t, cli.ExitOK, got.exit, got.text)
	after := d.find(t, sub.id)
	require.Equal(t, wait.CallResolved, after.Status)
	require.Equal(t, rule.late, after.Late)
	require.Equal(t, rule.isError, after.Result.IsError)
	kept := sub.result
	if rule.kept != "" {
		kept = rule.kept
	}
	require.JSONEq(t, kept, string(after.Result.Structured))
	if rule.kept == "" {
		owner := d.owners[sub.key]
		if rule.token != nil {
			owner = "token:" + sub.id
		}
		require.Equal(t, owner, after.SubmittedBy)
	}
	var inbox int
	err := d.Conn(t).QueryRow(t.Context(), "select count(*) from inbox_items where run_id = $1", after.RunID).Scan(&inbox)
	require.NoError(t, err)
	require.Equal(t, rule.late, inbox == 1, inbox)
	if way == byCommand {
		says := "has its result"
		switch {
		case rule.kept != "":
			says = "had a result before, which it keeps"
		case rule.late:
			says = "does not wait any more: the result is in the inbox of the run"
		}
		require.Contains(t, got.text, says)
		return
	}
	var done v1.Submitted
	require.NoError(t, json.Unmarshal([]byte(got.text), &done), got.text)
	require.Equal(t, rule.kept != "", done.Repeated)
	require.Equal(t, rule.late, done.Late)
	require.JSONEq(t, kept, string(done.Result.Structured))
}
