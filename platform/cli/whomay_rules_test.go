package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// decideRule is a rule of decisions: who decides on what, and how that is refused.
type decideRule struct {
	name      string
	key       string
	ask       func(*wait.Request)
	arguments string
	// since happens after the request was made; it returns the binding of what was seen.
	since   func(t *testing.T, d *deciding, a wait.Approval) string
	unknown bool // The request is one that there is not.
	refusal
	batch *refusal // How a command with --batch refuses, where that differs.
}

// at is how the rule refuses at an entry point.
func (r decideRule) at(way decider) refusal {
	switch {
	case way.batch && r.batch != nil:
		return *r.batch
	case r.class == string(tool.Invalid) && !way.edits: // It takes no arguments at all.
		return refusal{class: r.class, usage: true}
	default:
		return r.refusal
	}
}

// decideRules is the list of rules, the same for every entry point.
func decideRules() []decideRule {
	const tooMuch, elsewhere = `{"amount":1000}`, "another person"
	refuse := func(kind tool.Kind, says ...string) refusal { return refusal{class: string(kind), says: says} }
	lacks := func(permission string) refusal {
		return refusal{class: string(tool.Denied), says: []string{"permission " + permission}, permission: permission}
	}
	own := refuse(tool.Denied, "who started the run does not decide", elsewhere, wait.DecidePermission)
	made := refuse(tool.Denied, "a key that was created by who started the run does not decide", elsewhere)
	notFound := refuse(tool.NotFound, "approval not found")
	foreign := &refusal{class: string(tool.NotFound), says: []string{"run not found"}}
	overdue := refuse(tool.Conflict, "the time of the request is over")
	changed := refuse(tool.Conflict, "has changed", "look at it again")
	another := func(r *wait.Request) { r.Permission = "refunds.approve" }
	escalates := func(r *wait.Request) { r.EscalateAfter, r.EscalateTo = r.Expires/2, "refunds.approve" }
	two := func(r *wait.Request) { r.Needed = 2 }
	rules := []decideRule{
		{name: "no key", key: "none", refusal: noKey},
		{name: "a mistyped key", key: "mistyped", refusal: badKey},
		{name: "a revoked key", key: "revoked", refusal: badKey},
		{name: "an expired key", key: "expired", refusal: badKey},
		{name: "without the permission", key: "reader", refusal: lacks(wait.DecidePermission)},
		{name: "outside the scopes of the key", key: "narrow", refusal: lacks(wait.DecidePermission)},
		{name: "without the permission to read", key: "decider", refusal: lacks("approvals.read")},
		{name: "the tool asks for another permission", key: "clerk", ask: another, refusal: lacks("refunds.approve")},
		{name: "the permission of another tool", key: "cashier", refusal: lacks(wait.DecidePermission)},
		{name: "before it escalates", key: "cashier", ask: escalates, refusal: lacks(wait.DecidePermission)},
		{name: "who started the run", key: "starter", refusal: own},
		{name: "a key of who started the run", key: "made by the starter", refusal: made},
		{name: "a key of such a key", key: "made by such a key", refusal: made},
		{name: "another tenant", key: "stranger", refusal: notFound, batch: foreign},
		{name: "a request that there is not", key: "clerk", unknown: true, refusal: notFound, batch: foreign},
		{name: "overdue", key: "clerk", since: isOverdue, refusal: overdue},
		{name: "edited since", key: "clerk", ask: two, since: isEdited, refusal: changed, batch: &refusal{usage: true}},
		{name: "something else seen", key: "clerk", since: sawElse, refusal: changed, batch: &refusal{usage: true}},
		{name: "refused arguments", key: "clerk", arguments: tooMuch, refusal: refuse(tool.Invalid, "/amount", "at most 100")},
		// Authority comes first, and what is asked for second: the schema is told to who may decide.
		{name: "arguments without the permission", key: "reader", arguments: tooMuch, refusal: lacks(wait.DecidePermission)},
		{name: "arguments of who started the run", key: "starter", arguments: tooMuch, refusal: own},
		{name: "arguments with a key of theirs", key: "made by the starter", arguments: tooMuch, refusal: made},
		{name: "arguments of another tenant", key: "stranger", arguments: tooMuch, refusal: notFound},
		{name: "arguments when overdue", key: "clerk", arguments: tooMuch, since: isOverdue, refusal: overdue},
		{name: "arguments for what was edited", key: "clerk", ask: two, arguments: tooMuch, since: isEdited, refusal: changed},
		{name: "with the permission", key: "clerk"},
		{name: "with all permissions", key: "all"},
		{name: "with that of the tool", key: "cashier", ask: another},
		{name: "once it has escalated", key: "cashier", ask: escalates, since: hasEscalated},
		{name: "what was seen", key: "clerk", since: sawThat, batch: &refusal{usage: true}},
		{name: "other arguments", key: "clerk", arguments: `{"amount":5}`},
	}
	for _, status := range wait.Statuses()[1:] {
		rules = append(rules, decideRule{
			name: "it is " + string(status), key: "clerk",
			refusal: refuse(tool.Conflict, "the request is over: it is "+string(status)),
			batch:   &refusal{class: string(tool.NotFound), says: []string{"waits for an approval"}},
			since: func(t *testing.T, d *deciding, a wait.Approval) string {
				t.Helper()
				d.end(t, a, status)
				return ""
			},
		})
	}
	return rules
}

// end makes a request one that is over.
func (d *deciding) end(t *testing.T, a wait.Approval, as wait.Status) {
	t.Helper()
	var err error
	switch as {
	case wait.Approved, wait.Rejected:
		d.decided(t, a, as == wait.Approved, "")
	case wait.Expired:
		isOverdue(t, d, a)
		_, err = d.Store.End(t.Context(), d.tenant, a.ID, as)
	case wait.Cancelled, wait.Pending:
		_, err = d.Store.End(t.Context(), d.tenant, a.ID, as)
	}
	require.NoError(t, err)
	require.Equal(t, as, d.find(t, a.ID).Status)
}

// decided is a decision of the key with all permissions.
func (d *deciding) decided(t *testing.T, a wait.Approval, approve bool, arguments string) {
	t.Helper()
	got := d.decideOne(t, attempt{key: d.keys["all"], id: a.ID, arguments: arguments}, approve)
	require.Nil(t, got.problem, got.text)
}

func (d *deciding) exec(t *testing.T, statement, id string) {
	t.Helper()
	tag, err := d.Conn(t).Exec(t.Context(), statement, id)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
}

func isOverdue(t *testing.T, d *deciding, a wait.Approval) string {
	t.Helper()
	d.exec(t, "update approvals set expires_at = now() where id = $1", a.ID)
	return ""
}

func hasEscalated(t *testing.T, d *deciding, a wait.Approval) string {
	t.Helper()
	d.exec(t, "update approvals set escalates_at = now() where id = $1", a.ID)
	return ""
}

// isEdited approves with other arguments a request that needs two approvals.
func isEdited(t *testing.T, d *deciding, a wait.Approval) string {
	t.Helper()
	d.decided(t, a, true, `{"amount":8}`)
	require.NotEqual(t, a.Binding, d.find(t, a.ID).Binding)
	return a.Binding
}

func sawElse(*testing.T, *deciding, wait.Approval) string { return strings.Repeat("0", 64) }

func sawThat(_ *testing.T, _ *deciding, a wait.Approval) string { return a.Binding }
