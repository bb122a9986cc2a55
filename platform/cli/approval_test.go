package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/ledger"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/commands"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

// asks records a request for the approval of a call of a subject, or of user:ada.
func (s *shell) asks(t *testing.T, subject ...string) string {
	t.Helper()
	return s.asksSeveral(t, 1, subject...)[0]
}

// asksSeveral records requests for calls of one turn.
func (s *shell) asksSeveral(t *testing.T, calls int, subject ...string) (ids []string) {
	t.Helper()
	run := s.runOf(t, append(subject, "user:ada")[0])
	for n := range calls {
		asked, err := s.Store.Ask(t.Context(), s.request(t, run, n))
		require.NoError(t, err)
		ids = append(ids, asked.ID)
	}
	return ids
}

// runOf records a run of a subject.
func (s *shell) runOf(t *testing.T, subject string) agent.Run {
	t.Helper()
	run, err := s.Store.CreateRun(t.Context(), agent.Run{
		Tenant: s.tenant, Kind: agent.RunKindAgent, Mode: tool.Production, WorkflowID: "w-" + uuid.NewString(),
		Principal: tool.Principal{Tenant: s.tenant, Subject: subject},
	}, agent.Message{Content: []tool.Content{tool.Text("hello")}})
	require.NoError(t, err)
	return run
}

// request asks for the approval of a call of a run, in its first turn.
func (s *shell) request(t *testing.T, run agent.Run, position int) wait.Request {
	t.Helper()
	arguments := json.RawMessage(`{"order":"a-17"}`)
	digest, err := tool.Digest(arguments)
	require.NoError(t, err)
	target := wait.Target{Content: "content", Host: "api.example.com"}
	return wait.Request{
		Entry: ledger.Entry{
			CallIdentity: callOf(run, position), Arguments: arguments,
			VersionIdentity: tool.VersionIdentity{Slug: "refund", Version: "1.0.0", Digest: "content"},
		},
		Agent: "desk", WorkflowID: run.WorkflowID, Target: target, Binding: target.Bind(digest),
		Message: "Approve a call of refund@1.0.0 by agent desk?", Reasons: []string{"it writes"},
		Needed: 1, Permission: wait.DecidePermission, Expires: time.Hour,
	}
}

// callOf identifies a new call of a run, in its first turn.
func callOf(run agent.Run, position int) tool.CallIdentity {
	id := uuid.Must(uuid.NewV7()).String()
	return tool.CallIdentity{
		Principal: run.Principal, Mode: tool.Production, RunID: run.ID, Turn: 1, Position: position,
		CallID: "call_" + strconv.Itoa(position), InvocationID: id, EffectID: "e-" + id,
	}
}

// The calls of one turn are shown as one, and decided each or all; a rejection leaves the others.
func TestBatchOfApprovals(t *testing.T) {
	t.Parallel()

	s := setup(t)
	ids, other := s.asksSeveral(t, 3), s.asks(t)
	var asked v1.Approval
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "approvals", "show", ids[0], "--json")), &asked))
	require.Contains(t, s.ok(t, "approvals", "show", ids[0]), asked.Batch)

	s.ok(t, "approvals", "reject", ids[1], "--reason", "no")
	shown := s.ok(t, "approvals", "show", asked.Batch)
	require.Contains(t, shown, "2 of 3")
	at := -1
	for _, id := range ids {
		require.Greater(t, strings.Index(shown, id), at, "in the order of the calls")
		at = strings.Index(shown, id)
	}
	require.NotContains(t, shown, other)
	require.NotContains(t, s.ok(t, "approvals", "list", "--batch", asked.Batch), other)

	// Where all of a batch fail alike, the command fails as one decision does.
	reader := s.Key(t, s.tenant, "approvals.read")
	denied := s.run(t, "approvals", "approve", "--batch", asked.Batch, "--key", reader)
	require.Equal(t, cli.ExitDenied, denied.code, denied.out+denied.err)
	require.Equal(t, 2, strings.Count(denied.out, wait.DecidePermission), denied.out)
	require.Contains(t, denied.err, "toolcrib key create NAME --permission "+wait.DecidePermission)
	require.Equal(t, strings.Repeat("approved refund@1.0.0\n", 2), s.ok(t, "approvals", "approve", "--batch", asked.Batch))
	require.Contains(t, s.ok(t, "approvals", "show", other), "pending")
	for _, wrong := range []struct {
		args []string
		code int
	}{
		{[]string{"approvals", "approve", "--batch", asked.Batch}, cli.ExitNotFound}, // None waits any more.
		{[]string{"approvals", "approve", other, "--batch", asked.Batch}, cli.ExitUsage},
		{[]string{"approvals", "approve", "--batch", asked.Batch, "--args", "{}"}, cli.ExitUsage},
		{[]string{"approvals", "approve", "--batch", asked.Batch, "--seen", asked.Binding}, cli.ExitUsage},
		{[]string{"approvals", "approve", "--batch", other}, cli.ExitInvalid},
		{[]string{"approvals", "reject", "--batch", uuid.NewString() + ".1"}, cli.ExitNotFound},
		{[]string{"approvals", "show", asked.RunID + ".7"}, cli.ExitNotFound},
	} {
		got := s.run(t, wrong.args...)
		require.Equal(t, wrong.code, got.code, "%v: %s", wrong.args, got.err)
	}
}

func TestApprovals(t *testing.T) {
	t.Parallel()

	s := setup(t)
	one, two, three := s.asks(t), s.asks(t), s.asks(t)
	list := s.ok(t, "approvals", "list", "--status", "pending")
	for _, id := range []string{one, two, three} {
		require.Contains(t, list, id)
	}
	shown := s.ok(t, "approvals", "show", one)
	for _, text := range []string{"api.example.com", "a-17", "user:ada", "it writes", "Approve a call of refund@1.0.0"} {
		require.Contains(t, shown, text)
	}
	explained := s.ok(t, "explain", one)
	for _, text := range []string{
		"refund@1.0.0 is pending", "it needed an approval: it writes", "waits for 1 of 1 approvals",
	} {
		require.Contains(t, explained, text)
	}
	require.Equal(t, cli.ExitNotFound, s.run(t, "explain", uuid.NewString()).code)
	require.Equal(t, cli.ExitUsage, s.run(t, "explain").code)
	require.Equal(t, "approved refund@1.0.0\n", s.ok(t, "approvals", "approve", one, "--reason", "fine"))
	require.Contains(t, s.ok(t, "approvals", "show", one), "fine")

	// Each is decided on its own: the first cannot be rejected any more.
	several := s.run(t, "tool", "reject", one, two, "--reason", "no")
	require.Equal(t, cli.ExitFailure, several.code)
	require.Contains(t, several.out, "rejected refund@1.0.0")

	var decided v1.Approval
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "tool", "approve", three, "--json")), &decided))
	require.Equal(t, wait.Approved, decided.Status)
	require.NotContains(t, s.ok(t, "approvals", "list", "--status", "pending"), one)

	for _, wrong := range [][]string{
		{"approvals", "approve"},
		{"approvals", "approve", one, two, "--args", "{}"},
		{"approvals", "approve", one, "--args", "{"},
	} {
		require.NotEqual(t, cli.ExitOK, s.run(t, wrong...).code, wrong)
	}
	require.Equal(t, cli.ExitNotFound, s.run(t, "approvals", "show", uuid.NewString()).code)
}

func TestGrantCommands(t *testing.T) {
	t.Parallel()

	s := setup(t)
	s.ok(t, "apply", "-f", s.write(t, "refund.json", `{"kind":"tool","slug":"refund","description":"Refunds an order.",
		"implementation_type":"internal","version":"1.0.0","publish":true,"open_input":true,"input_schema":{"type":"object"}}`))
	require.Empty(t, s.ok(t, "approvals", "grants"))
	var made v1.Grant
	require.NoError(t, json.Unmarshal([]byte(s.ok(t, "approvals", "grant", "refund", "--when", "input.amount <= 50",
		"--version", "^1", "--uses", "3", "--for", "2h", "--json")), &made))
	require.Equal(t, 3, made.Uses)
	require.WithinDuration(t, made.CreatedAt.Add(2*time.Hour), made.ExpiresAt, time.Minute)
	require.Contains(t, s.ok(t, "approvals", "grants", "--active"), "0 of 3")
	require.Equal(t, "revoked "+made.ID+" after 0 of 3 uses\n", s.ok(t, "approvals", "revoke", made.ID))
	require.NotContains(t, s.ok(t, "approvals", "grants", "--active"), made.ID)
	require.Contains(t, s.ok(t, "approvals", "grants"), "revoked")

	for _, wrong := range []struct {
		args []string
		code int
	}{
		{[]string{"approvals", "grant"}, cli.ExitUsage},
		{[]string{"approvals", "grant", "refundd"}, cli.ExitNotFound},
		{[]string{"approvals", "grant", "refund", "--agent", "desk"}, cli.ExitNotFound},
		{[]string{"approvals", "grant", "refund", "--when", "input."}, cli.ExitInvalid},
		{[]string{"approvals", "grant", "refund", "--for", "1s"}, cli.ExitInvalid},
		{[]string{"approvals", "grant", "refund", "--for", "soon"}, cli.ExitUsage},
		{[]string{"approvals", "revoke", uuid.NewString()}, cli.ExitNotFound},
	} {
		require.Equal(t, wrong.code, s.run(t, wrong.args...).code, wrong.args)
	}
}

// Watching prints each request once, as it comes, until it is interrupted.
func TestWatchApprovals(t *testing.T) {
	t.Parallel()

	s := setup(t)
	first := s.asks(t)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		env := cli.Env{In: strings.NewReader(""), Out: write, Err: io.Discard, Dir: s.dir}
		for name, value := range s.vars {
			env.Environ = append(env.Environ, name+"="+value)
		}
		ended <- cli.Run(ctx, env, []string{"approvals", "watch", "--tool", "refund", "--json"}, commands.New)
		_ = write.Close()
	}()
	lines := json.NewDecoder(read)
	next := func() (v v1.Approval) {
		require.NoError(t, lines.Decode(&v))
		return v
	}
	require.Equal(t, first, next().ID)
	second := s.asks(t)
	require.Equal(t, second, next().ID)
	interrupt()
	require.Error(t, lines.Decode(&v1.Approval{}), "there are no more")
	require.Contains(t, []int{cli.ExitOK, cli.ExitInterrupted}, <-ended)
}

// A request completes the commands that decide.
func TestCompletionOfApprovals(t *testing.T) {
	t.Parallel()

	s := setup(t)
	id := s.asks(t)
	for _, verb := range []string{"show", "approve", "reject"} {
		require.Equal(t, []string{id}, s.complete(t, "approvals", verb, ""), verb)
	}
	require.Equal(t, []string{"pending"}, s.complete(t, "approvals", "list", "--status", "pen"))
	s.ok(t, "approvals", "reject", id)
	require.Empty(t, s.complete(t, "approvals", "approve", ""))
}
