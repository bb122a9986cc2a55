package cli_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// decider is an entry point that decides requests: an endpoint or a command.
type decider struct {
	name     string // Of the command, or of the endpoint, which begins with a slash.
	approve  bool
	edits    bool // Whether it can give other arguments.
	batch    bool // Whether it decides what is listed as pending: it takes no binding.
	endpoint bool
}

// deciders is every entry point.
var deciders = []decider{
	{name: "/approve", approve: true, edits: true, endpoint: true},
	{name: "/reject", endpoint: true},
	{name: "/decide", approve: true, edits: true, endpoint: true},
	{name: "/decide, rejecting", endpoint: true},
	{name: "approvals approve", approve: true, edits: true},
	{name: "approvals reject"},
	{name: "tool approve", approve: true, edits: true},
	{name: "tool reject"},
	{name: "approvals approve --batch", approve: true, batch: true},
	{name: "approvals reject --batch", batch: true},
}

// decide attempts a decision at the entry point.
func (way decider) decide(t *testing.T, s *shell, d attempt) outcome {
	t.Helper()
	switch {
	case way.endpoint && strings.HasPrefix(way.name, "/decide"):
		return s.decideOne(t, d, way.approve)
	case way.endpoint:
		return s.endpoint(t, "/v1/approvals/"+d.id+way.name, d.body(t, nil), d.key)
	case way.batch:
		return s.command(t, d.key, d.flags(append(strings.Fields(way.name), d.batch)...)...)
	default:
		return s.command(t, d.key, d.flags(append(strings.Fields(way.name), d.id)...)...)
	}
}

// attempt is a decision that is attempted.
type attempt struct {
	key, id, batch  string
	seen, arguments string // Empty for none.
}

// body is that of a request which makes the decision.
func (d attempt) body(t *testing.T, more map[string]any) string {
	t.Helper()
	fields := map[string]any{}
	maps.Copy(fields, more)
	if d.seen != "" {
		fields["seen"] = d.seen
	}
	if d.arguments != "" {
		fields["arguments"] = json.RawMessage(d.arguments)
	}
	raw, err := json.Marshal(fields)
	require.NoError(t, err)
	return string(raw)
}

// flags adds those of the decision to a command.
func (d attempt) flags(command ...string) []string {
	if d.seen != "" {
		command = append(command, "--seen", d.seen)
	}
	if d.arguments != "" {
		command = append(command, "--args", d.arguments)
	}
	return command
}

// decideOne decides by the endpoint for several; the outcome is that of the one item.
func (s *shell) decideOne(t *testing.T, d attempt, approve bool) outcome {
	t.Helper()
	got := s.endpoint(t, "/v1/approvals/decide",
		`{"decisions":[`+d.body(t, map[string]any{"id": d.id, "approve": approve})+`]}`, d.key)
	if got.problem == nil {
		var page v1.Page[v1.Decided]
		require.NoError(t, json.Unmarshal([]byte(got.text), &page))
		require.Len(t, page.Items, 1)
		require.Equal(t, d.id, page.Items[0].ID)
		got.problem = page.Items[0].Error
	}
	return got
}

// deciding is a tenant with a tool that takes an amount of at most 100.
type deciding struct {
	*callers
	refund  tool.VersionIdentity
	starter string // Subject of who starts runs.
}

func setupDeciding(t *testing.T) *deciding {
	t.Helper()
	d := &deciding{callers: setupCallers(t, "approvals.read", wait.DecidePermission)}
	d.refund = d.publish(t, "refund", `{"kind":"tool","slug":"refund","description":"Refunds.",
		"implementation_type":"internal","version":"1.0.0","publish":true,"input_schema":{"type":"object",
		"required":["amount"],"properties":{"amount":{"type":"integer","maximum":100}},"additionalProperties":false}}`)
	d.starter = d.add(t, "starter", store.Key{Permissions: []string{"*"}})
	made := d.add(t, "made by the starter", store.Key{Permissions: []string{"*"}, CreatedBy: d.starter})
	d.add(t, "made by such a key", store.Key{Permissions: []string{"*"}, CreatedBy: made})
	d.add(t, "reader", store.Key{Permissions: []string{"approvals.read"}})
	d.add(t, "decider", store.Key{Permissions: []string{wait.DecidePermission}})
	d.add(t, "cashier", store.Key{Permissions: []string{"approvals.read", "refunds.approve"}})
	return d
}

// ask records a request of the starter's run.
func (d *deciding) ask(t *testing.T, change func(*wait.Request)) wait.Approval {
	t.Helper()
	r := d.request(t, d.runOf(t, d.starter), 0)
	r.Entry.VersionIdentity, r.Entry.Arguments = d.refund, json.RawMessage(`{"amount":7,"password":"hunter22-secret"}`)
	digest, err := tool.Digest(r.Entry.Arguments)
	require.NoError(t, err)
	r.Binding = r.Target.Bind(digest)
	if change != nil {
		change(&r)
	}
	asked, err := d.Store.Ask(t.Context(), r)
	require.NoError(t, err)
	return asked
}

func (d *deciding) find(t *testing.T, id string) wait.Approval {
	t.Helper()
	found, err := d.Store.FindApproval(t.Context(), d.tenant, id)
	require.NoError(t, err)
	return found
}

// Every entry point that decides refuses alike, says why, and leaves the request as it was. Who
// may decide does.
func TestWhoMayDecide(t *testing.T) {
	t.Parallel()

	d := setupDeciding(t)
	for _, way := range deciders {
		for _, rule := range decideRules() {
			if rule.arguments != "" && rule.class != string(tool.Invalid) && !way.edits {
				continue
			}
			t.Run(way.name+"/"+rule.name, func(t *testing.T) {
				t.Parallel()
				a := d.ask(t, rule.ask)
				try := attempt{key: d.keys[rule.key], arguments: rule.arguments}
				if rule.since != nil {
					try.seen = rule.since(t, d, a)
				}
				if rule.unknown {
					a.ID, a.RunID = uuid.NewString(), uuid.NewString()
				}
				try.id, try.batch = a.ID, a.Batch().String()
				d.shows(t, rule, try)
				d.check(t, way, rule, try)
			})
		}
	}
}

// shows requires that the request, as who decides reads it, says whether they may, and why not: as the decision
// is answered, unless that is refused for what it says.
func (d *deciding) shows(t *testing.T, rule decideRule, try attempt) {
	t.Helper()
	if try.key == "" {
		return
	}
	c, err := client.New(client.Config{Server: d.vars[cli.ServerVariable], Key: try.key})
	require.NoError(t, err)
	defer c.Close()
	read, err := c.Approval(t.Context(), try.id)
	if err != nil { // Who may not read a request is shown nothing of it.
		require.NotEmpty(t, rule.class)
		return
	}
	ofWords := rule.class == string(tool.Invalid) || rule.class == string(tool.Conflict) && try.seen != ""
	require.Equal(t, rule.class == "" || ofWords, read.Decidable, read.Because)
	if read.Decidable {
		require.Empty(t, read.Because)
		return
	}
	for _, says := range rule.says {
		require.Contains(t, read.Because, says)
	}
	listed, err := c.ListApprovals(t.Context(), client.ApprovalQuery{Run: read.RunID, Decidable: true})
	require.NoError(t, err)
	require.Empty(t, listed.Items)
}

func (d *deciding) check(t *testing.T, way decider, rule decideRule, try attempt) {
	t.Helper()
	var before wait.Approval
	if !rule.unknown {
		before = d.find(t, try.id)
	}
	got := way.decide(t, d.shell, try)
	want := rule.at(way)
	if want.class == "" && !want.usage {
		require.Nil(t, got.problem, got.text)
		require.Equal(t, cli.ExitOK, got.exit, got.text)
		after := d.find(t, try.id)
		require.Equal(t, map[bool]wait.Status{true: wait.Approved, false: wait.Rejected}[way.approve], after.Status)
		last := after.Decisions[len(after.Decisions)-1]
		require.Equal(t, d.owners[try.key], last.Subject)
		require.Equal(t, way.approve, last.Approve)
		if try.arguments != "" {
			require.JSONEq(t, try.arguments, string(after.Edited))
		}
		return
	}
	secrets := []string{"hunter22-secret", d.starter, string(d.tenant), "api.example.com"}
	if try.key != "" {
		secrets = append(secrets, try.key)
	}
	if want.class != string(tool.Invalid) {
		secrets = append(secrets, "maximum", "amount")
	}
	if rule.key == "stranger" {
		secrets = append(secrets, "refund", before.CallID, wait.DecidePermission)
	}
	got.requireRefused(t, want, secrets...)
	if !rule.unknown {
		require.Equal(t, before, d.find(t, try.id))
	}
}
