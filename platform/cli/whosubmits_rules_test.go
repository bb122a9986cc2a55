package cli_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// submitRule is a rule of results: who submits which result of what, and how that is refused.
type submitRule struct {
	name    string
	only    []string // The entry points that it is of; all where empty.
	key     string
	token   func(t *testing.T, d *submitting, c wait.Call) string // Instead of a key.
	result  string
	isError bool
	change  func(t *testing.T, d *submitting, c wait.Call, sub *submission)
	// since happens after the call was offered and before the result is submitted, with its key.
	since func(t *testing.T, d *submitting, c wait.Call, key string)
	kept  string // The result that the call has already.
	late  bool
	refusal
	where map[string]refusal // How entry points refuse that do so otherwise.
}

// at is how the rule refuses at an entry point.
func (r submitRule) at(way string) refusal {
	if other, ok := r.where[way]; ok {
		return other
	}
	if r.token != nil && (way == byRun || way == byExecutor) {
		return refusal{class: v1.Unauthenticated, says: []string{"a token", "of one call", "an API key"}}
	}
	return r.refusal
}

const firstSeat = `{"seat":"1A"}`

// submitRules is the list of rules, the same for every entry point.
func submitRules() []submitRule {
	refuse := func(kind tool.Kind, says ...string) refusal { return refusal{class: string(kind), says: says} }
	badToken := unauthenticated("the token is not valid, or its time is over: a key with results.submit may make another",
		"toolcrib results token CALL makes one")
	lacks := refusal{
		class: string(tool.Denied), says: []string{"lacks the permission results.submit"}, permission: wait.SubmitPermission,
	}
	noCall := refuse(tool.NotFound, "call not found")
	noRun := map[string]refusal{byRun: refuse(tool.NotFound, "run not found")}
	schema := refuse(tool.Invalid, "output schema")
	over := refuse(tool.Conflict, "the call has ended: it takes no result")
	tooLate := refuse(tool.Conflict, "the time for a result of this call is over")
	runOnly, named := []string{byRun}, []string{byRun, byCall, byCommand}
	rules := []submitRule{
		{name: "no key", key: "none", refusal: noKey},
		{name: "a mistyped key", key: "mistyped", refusal: badKey},
		{name: "a revoked key", key: "revoked", refusal: badKey},
		{name: "an expired key", key: "expired", refusal: badKey},
		{name: "without the permission", key: "others", refusal: lacks},
		{name: "outside the scopes of the key", key: "narrow", refusal: lacks},
		{name: "another tenant", key: "stranger", refusal: noCall, where: noRun},
		{name: "a call that there is not", only: named, key: "clerk", change: unknownCall, refusal: noCall, where: noRun},
		{name: "no handler of the tool", only: []string{byExecutor}, key: "clerk", change: anotherTool, refusal: noCall},
		{name: "a call of another run", only: runOnly, key: "clerk", change: anotherRun, refusal: refuse(tool.NotFound,
			`the run has no call "call_0"`)},
		{name: "a run of another tenant", only: runOnly, key: "clerk", change: foreignRun, refusal: noRun[byRun]},
		{name: "several calls of the same id", key: "clerk", since: sameID, where: map[string]refusal{
			byRun: refuse(tool.Conflict, "2 calls", "submit to one of them", "/v1/pending-tool-calls/"),
		}},
		{name: "one of several calls", key: "clerk", since: nextID},
		{name: "a token", token: ownToken},
		{name: "a token of another call", token: otherToken, refusal: noCall},
		{name: "a token of another tenant", token: foreignToken, refusal: noCall},
		{name: "an old token", token: oldToken, refusal: badToken},
		{name: "a forged token", token: forgedToken, refusal: badToken},
		{name: "a token with the signature of another", token: swappedToken, refusal: badToken},
		{name: "a broken token", token: func(*testing.T, *submitting, wait.Call) string { return "tcr_.x" }, refusal: badToken},
		{name: "with the permission", key: "clerk"},
		{name: "with all permissions", key: "all"},
	}
	for _, with := range []submitRule{
		{name: "by key: ", key: "clerk"}, {name: "by token: ", token: ownToken, only: []string{byCall, byCommand}},
	} {
		for _, r := range []submitRule{
			{name: "another type", result: `{"seat":12}`, refusal: schema},
			{name: "no object", result: `"12A"`, refusal: schema},
			{name: "content blocks", result: `[{"type":"text","text":"12A"}]`, refusal: schema},
			{name: "why it failed", result: `"none is free"`, isError: true},
			{name: "it has a result", since: hasResult, kept: firstSeat},
			{name: "it has a result, and this one is wrong", since: hasResult, kept: firstSeat, result: `{"seat":12}`},
			{name: "it has a result of the same key", since: hasOwnResult, kept: firstSeat},
			{name: "it is late", since: isLate, late: true},
			{name: "its run is over", since: isOver, refusal: over},
			{name: "its run is over, and this one is wrong", since: isOver, result: `{"seat":12}`, refusal: over},
			{name: "its time is over", since: isTooLate, refusal: tooLate},
			{name: "its time is over, and this one is wrong", since: isTooLate, result: `{"seat":12}`, refusal: tooLate},
		} {
			r.name, r.key, r.token, r.only = with.name+r.name, with.key, with.token, with.only
			rules = append(rules, r)
		}
	}
	return rules
}

func unknownCall(_ *testing.T, _ *submitting, _ wait.Call, sub *submission) {
	sub.id, sub.run = uuid.NewString(), uuid.NewString()
}

func anotherTool(_ *testing.T, _ *submitting, _ wait.Call, sub *submission) { sub.slug = "pickMeal" }

func anotherRun(t *testing.T, d *submitting, _ wait.Call, sub *submission) {
	t.Helper()
	sub.run = d.runOf(t, "user:ada").ID
}

func foreignRun(t *testing.T, d *submitting, _ wait.Call, sub *submission) {
	t.Helper()
	sub.run = d.foreign().runOf(t, "user:ada").ID
}

// foreign is the other tenant.
func (d *submitting) foreign() *shell {
	other := *d.shell
	other.tenant = d.other
	other.vars = maps.Clone(d.vars)
	other.vars[cli.KeyVariable] = d.keys["stranger"]
	return &other
}

func sameID(t *testing.T, d *submitting, c wait.Call, _ string) {
	t.Helper()
	again := c.CallIdentity
	again.Turn, again.InvocationID, again.EffectID = 2, uuid.Must(uuid.NewV7()).String(), "again-"+c.EffectID
	d.offer(t, d.seats(t), again)
}

func nextID(t *testing.T, d *submitting, c wait.Call, _ string) {
	t.Helper()
	d.offer(t, d.seats(t), callOf(agent.Run{ID: c.RunID, Principal: c.Principal}, 1))
}

func (d *submitting) token(t *testing.T, c wait.Call, fields string) string {
	t.Helper()
	var made v1.SubmitToken
	status, answer := d.post(t, "/v1/pending-tool-calls/"+c.ID+"/token", `{`+fields+`}`, d.keys["clerk"])
	require.Equal(t, http.StatusOK, status, answer)
	require.NoError(t, json.Unmarshal([]byte(answer), &made))
	return made.Token
}

func ownToken(t *testing.T, d *submitting, c wait.Call) string {
	t.Helper()
	return d.token(t, c, "")
}

func otherToken(t *testing.T, d *submitting, _ wait.Call) string {
	t.Helper()
	return d.token(t, d.offer(t, d.seats(t), callOf(d.runOf(t, "user:ada"), 0)), "")
}

// foreignToken is of a call of the other tenant.
func foreignToken(t *testing.T, d *submitting, _ wait.Call) string {
	t.Helper()
	keys := map[string]string{"clerk": d.keys["stranger"]}
	return otherToken(t, &submitting{&callers{shell: d.foreign(), keys: keys}}, wait.Call{})
}

func oldToken(t *testing.T, d *submitting, c wait.Call) string {
	t.Helper()
	made := d.token(t, c, `"expires_s":1`)
	time.Sleep(1100 * time.Millisecond)
	return made
}

func forgedToken(t *testing.T, d *submitting, c wait.Call) string {
	t.Helper()
	made := d.token(t, c, "")
	return made[:len(made)-6] + "AAAAAA"
}

func swappedToken(t *testing.T, d *submitting, c wait.Call) string {
	t.Helper()
	claims, _, _ := strings.Cut(ownToken(t, d, c), ".")
	_, signature, _ := strings.Cut(otherToken(t, d, c), ".")
	return claims + "." + signature
}

func hasResult(t *testing.T, d *submitting, c wait.Call, _ string) {
	t.Helper()
	hasOwnResult(t, d, c, d.keys["all"])
}

func hasOwnResult(t *testing.T, d *submitting, c wait.Call, key string) {
	t.Helper()
	status, answer := d.post(t, "/v1/pending-tool-calls/"+c.ID+"/result", `{"result":`+firstSeat+`}`, key)
	require.Equal(t, http.StatusOK, status, answer)
}

// isLate ends the call without a result, which its run goes on to take.
func isLate(t *testing.T, d *submitting, c wait.Call, _ string) {
	t.Helper()
	outcome, err := d.Store.Settle(t.Context(), ledger.Settlement{
		Entry:  ledger.Entry{CallIdentity: c.CallIdentity, VersionIdentity: c.VersionIdentity},
		Status: tool.StatusExpired, Kind: tool.Timeout, Msg: "it took too long",
	})
	require.NoError(t, err)
	require.True(t, outcome.Won)
}

func isOver(t *testing.T, d *submitting, c wait.Call, _ string) {
	t.Helper()
	err := d.Store.FinishRun(t.Context(), agent.RunEnd{Tenant: d.tenant, RunID: c.RunID, Status: agent.RunCancelled})
	require.NoError(t, err)
	require.Equal(t, wait.CallCancelled, d.find(t, c.ID).Status)
}

func isTooLate(t *testing.T, d *submitting, c wait.Call, _ string) {
	t.Helper()
	_, err := d.Conn(t).Exec(t.Context(), "update pending_tool_calls set expires_at = now() where id = $1", c.ID)
	require.NoError(t, err)
	require.Equal(t, wait.CallExpired, d.find(t, c.ID).Status)
}
