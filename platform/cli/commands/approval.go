package commands

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/wait"
)

func (a *app) approvalsCommand() *cobra.Command {
	cmd := cli.Describe(cli.Group("approvals", "Approve and reject calls that wait for a person",
		a.approvalListCommand(), a.approvalWatchCommand(), a.approvalShowCommand(),
		a.decideCommand("approve", "Approve calls, as they are or with other arguments"),
		a.decideCommand("reject", "Reject calls; the model gets the reason"),
		a.grantCommand(), a.grantListCommand(), a.grantRevokeCommand()),
		`A call that writes, or whose tool asks for it, waits until a person has approved it.
Who started the run never approves its calls: another key does, with the
permission approvals.decide. Only a call that one made directly, of a tool that asks
for no more than a confirmation, one may confirm oneself, with approvals.confirm.`,
		`  toolcrib approvals list --status pending
  toolcrib approvals approve 01987a3c-0000-7000-8000-000000000002
  toolcrib approvals reject 01987a3c-0000-7000-8000-000000000002 --reason "refunded already"`)
	cmd.Aliases = []string{"approval"}
	return cmd
}

func (a *app) approvalListCommand() *cobra.Command {
	var q client.ApprovalQuery
	cmd := cli.Describe(listCommand(a, "List requests for approval, newest first",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.Approval], error) {
			q.Page = page
			return c.ListApprovals(ctx, q)
		}, approvalListing), `Lists the calls that wait for a person, or waited, as far as the filters let them
through. A request of a nested run is found by its outermost run too.`,
		`  toolcrib approvals list --status pending
  toolcrib approvals list --run 01987a3c-0000-7000-8000-000000000001`)
	cmd.Flags().StringVar((*string)(&q.Status), "status", "", "pending, approved, rejected, expired or cancelled")
	cmd.Flags().StringVar(&q.Run, "run", "", "id of the run, or of its outermost run")
	cmd.Flags().StringVar(&q.Batch, "batch", "", "batch of a request: those of the calls of one turn")
	cmd.Flags().StringVar(&q.Tool, "tool", "", "slug of the tool")
	cmd.Flags().BoolVar(&q.Decidable, "mine", false, "only those that you may decide now")
	cmd.Flags().BoolVar(&q.Oldest, "oldest", false, "the oldest first")
	return cmd
}

var approvalListing = listing[v1.Approval]{
	header: "APPROVAL TOOL~ AGENT STATUS ARGUMENTS~ EXPIRES CREATED",
	row: func(v v1.Approval) []string {
		expires := ""
		if v.Status == wait.Pending {
			expires = terminal.Until(v.ExpiresAt)
		}
		return []string{
			v.ID, versioned(v.Tool, v.Version), v.Agent, string(v.Status), terminal.Shorten(string(v.Arguments), 60), expires,
			terminal.Since(v.CreatedAt),
		}
	},
	empty: "no call has needed an approval yet: those of tools that write do",
}

func (a *app) approvalShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show APPROVAL|BATCH", Short: "Show what is asked for, and who decided", Args: cli.Operands("approval"),
		ValidArgsFunction: a.completeApprovals,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if strings.Contains(args[0], ".") { // Ids of requests have no dot.
				return a.showBatch(cmd.Context(), c, args[0])
			}
			found, err := c.Approval(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(found, func(w io.Writer) error { return writeApproval(w, found) })
		}),
	}, `Shows what a call would do if it is approved: the version, the arguments, the
credential and the host; and how the request stands. The requests of a batch, the calls
of one turn, are shown as one.`,
		`  toolcrib approvals show 01987a3c-0000-7000-8000-000000000002
  toolcrib approvals show 01987a3c-0000-7000-8000-000000000001.2`)
}

func writeApproval(w io.Writer, v v1.Approval) error {
	err := terminal.Pairs(w,
		"approval", v.ID, "asks", v.Message, "because", strings.Join(v.Reasons, "; "), "status", string(v.Status),
		"reason", v.Reason, "tool", versioned(v.Tool, v.Version), "agent", v.Agent, "arguments", string(v.Arguments),
		"edited", string(v.Edited), "host", v.Host, "credential", v.Credential, "requester", v.Requester,
		"run", v.RunID, "outermost run", otherwise(v.RootRunID, v.RunID), "turn", strconv.Itoa(v.Turn),
		"batch", v.Batch,
		"approvals needed", strconv.Itoa(v.Needed), "permission", v.Permission,
		"escalates", escalation(v), "you may decide", mayDecide(v),
		"created", terminal.StampSince(v.CreatedAt), "expires", terminal.Stamp(v.ExpiresAt),
		"ended", terminal.StampSinceOf(v.EndedAt), "binding", v.Binding)
	if err == nil && v.Change != nil {
		err = writeToolChange(w, v.Change)
	}
	if err != nil || len(v.Decisions) == 0 {
		return err
	}
	rows := each(v.Decisions, func(d v1.Decision) []string {
		said := "rejected"
		if d.Approve {
			said = "approved"
		}
		return []string{d.Subject, said, d.Reason, terminal.Stamp(d.At)}
	})
	if err := gap(w); err != nil {
		return err
	}
	return terminal.Table(w, "BY DECISION REASON~ AT", rows)
}

// writeToolChange writes what a call of manageTools changes: the fields that differ, or the whole
// definition of a new tool.
func writeToolChange(w io.Writer, c *v1.ToolChange) error {
	if err := gap(w); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s %s:\n", terminal.Clean(c.Action), terminal.Clean(c.Tool)); err != nil {
		return err
	}
	if len(c.Before) == 0 && len(c.After) > 0 {
		text, err := definition.Format(c.After)
		if err != nil {
			return err
		}
		for line := range strings.Lines(text) {
			if _, err := fmt.Fprintln(w, "  "+terminal.Clean(strings.TrimRight(line, "\n"))); err != nil {
				return err
			}
		}
	} else if len(c.Changes) > 0 {
		rows := each(c.Changes, func(c v1.Change) []string { return []string{c.Path, c.Bump, c.Reason} })
		if err := terminal.Table(w, "WHERE~ WEIGHS WHAT~", rows); err != nil {
			return err
		}
	}
	if c.Refusal == "" {
		return nil
	}
	_, err := fmt.Fprintln(w, "it will be refused: "+terminal.Clean(c.Refusal))
	return err
}

// mayDecide says whether who asks may decide, and why not.
func mayDecide(v v1.Approval) string {
	switch {
	case v.Status != wait.Pending:
		return ""
	case v.Decidable:
		return "yes"
	default:
		return "no: " + v.Because
	}
}

// escalation says who may decide too, and from when on.
func escalation(v v1.Approval) string {
	if v.EscalatesAt == nil {
		return ""
	}
	return "to " + v.EscalateTo + " at " + terminal.Stamp(*v.EscalatesAt)
}

// otherwise returns value where it is not the same as another one.
func otherwise(value, same string) string {
	if value == same {
		return ""
	}
	return value
}

// decideCommand approves or rejects requests.
func (a *app) decideCommand(verb, short string) *cobra.Command {
	approve := verb == "approve"
	var reason, seen, arguments, file, batch string
	cmd := &cobra.Command{
		Use: verb + " [APPROVAL...]", Short: short, ValidArgsFunction: a.completeApprovals,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			edited, err := readArguments(cmd.InOrStdin(), arguments, file)
			if err != nil {
				return err
			}
			switch {
			case (batch == "") == (len(args) == 0):
				return cli.Usagef("name the approvals, or a batch with --batch")
			case edited != nil && len(args) != 1:
				return cli.Usagef("--args changes the arguments of one call: name one approval")
			case seen != "" && len(args) != 1:
				return cli.Usagef("--seen is the binding of one request: name one approval")
			case batch != "":
				return a.decideBatch(cmd.Context(), c, batch, v1.DecideOne{Approve: approve, Reason: reason})
			}
			in := v1.Decide{Decisions: each(args, func(id string) v1.DecideOne {
				return v1.DecideOne{ID: id, Approve: approve, Reason: reason, Arguments: edited, Seen: seen}
			})}
			return a.decide(cmd.Context(), c, in)
		}),
	}
	long, example := `Approves each of the calls: those that need no other approval begin at once. Each is
decided on its own, and one that fails leaves the others. --batch approves all calls of
a turn that wait, as they are listed now.`, `  toolcrib approvals approve 01987a3c-0000-7000-8000-000000000002
  toolcrib approvals approve 01987a3c-0000-7000-8000-000000000002 --args '{"amount": 10}'
  toolcrib approvals approve --batch 01987a3c-0000-7000-8000-000000000001.2`
	if !approve {
		long, example = `Rejects each of the calls: they are not made, the model gets the reason, and the run
goes on. Each is decided on its own.`,
			`  toolcrib approvals reject 01987a3c-0000-7000-8000-000000000002 --reason "refunded already"`
	}
	cmd.Flags().StringVar(&reason, "reason", "", "for the model and the record")
	cmd.Flags().StringVar(&batch, "batch", "", "decide all requests of a batch that are pending: the calls of one turn")
	cmd.Flags().StringVar(&seen, "seen", "", "binding of what you saw: a conflict if something else is asked by now")
	if approve {
		cmd.Flags().StringVar(&arguments, "args", "", "call with these arguments instead, as JSON")
		cmd.Flags().StringVar(&file, "args-file", "", "file with them; - for the standard input")
	}
	return cli.Describe(cmd, long, example)
}

// decide sends decisions, and prints what became of each.
func (a *app) decide(ctx context.Context, c *client.Client, in v1.Decide) error {
	if len(in.Decisions) == 1 { // Its failure is the command's.
		one := in.Decisions[0]
		var decided v1.Approval
		var err error
		if one.Approve {
			decided, err = c.Approve(ctx, one.ID, v1.Approve{Reason: one.Reason, Arguments: one.Arguments, Seen: one.Seen})
		} else {
			decided, err = c.Reject(ctx, one.ID, v1.Reject{Reason: one.Reason, Seen: one.Seen})
		}
		if err != nil {
			return a.hintApprover(one, err)
		}
		return a.Printer.ShowLine(decided, "%s", decidedLine(decided))
	}
	items, err := c.Decide(ctx, in)
	if err != nil {
		return err
	}
	return a.showDecided(items)
}

// hintApprover adds to the denial of a decision the command by which toolcrib dev lets one decide.
func (a *app) hintApprover(in v1.DecideOne, err error) error {
	flags := a.ApproverFlags()
	if p, ok := client.Problem(err); !ok || p.Status != http.StatusForbidden || len(p.Permissions) > 0 || flags == "" {
		return err
	}
	verb := "reject"
	if in.Approve {
		verb = "approve"
	}
	return cli.WithHint(err, fmt.Sprintf("toolcrib dev keeps a key for that: toolcrib approvals %s %s%s", verb,
		in.ID, flags))
}

// showDecided prints what became of decisions, and fails if one of them did: as they all did, where
// they failed alike.
func (a *app) showDecided(items []v1.Decided) error {
	var failed []*v1.Problem
	err := a.Printer.Show(v1.Page[v1.Decided]{Items: items}, func(w io.Writer) error {
		for _, item := range items {
			var line string
			if item.Approval != nil {
				line = decidedLine(*item.Approval)
			} else {
				line = terminal.Clean(item.ID) + ": " + terminal.Clean(item.Error.Detail)
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
		return nil
	})
	for _, item := range items {
		if item.Error != nil {
			failed = append(failed, item.Error)
		}
	}
	alike := len(failed) == len(items) && !slices.ContainsFunc(failed, func(p *v1.Problem) bool {
		return p.Code != failed[0].Code || p.Detail != failed[0].Detail
	})
	switch {
	case err != nil || len(failed) == 0:
		return err
	case alike:
		return failed[0].ToolError()
	default:
		return &cli.ExitError{Code: cli.ExitFailure}
	}
}

// decidedLine says how a request stands after a decision.
func decidedLine(v v1.Approval) string {
	name := terminal.Clean(versioned(v.Tool, v.Version))
	if v.Status != wait.Pending {
		return fmt.Sprintf("%s %s", terminal.Clean(string(v.Status)), name)
	}
	given := 0
	for _, d := range v.Decisions {
		if d.Approve {
			given++
		}
	}
	return fmt.Sprintf("%s has %d of %d approvals", name, given, v.Needed)
}

// toolDecideCommand is decideCommand among the commands on tools. The id of a request is
// that of the call's invocation.
func (a *app) toolDecideCommand(verb, short string) *cobra.Command {
	cmd := a.decideCommand(verb, short)
	cmd.Use = verb + " INVOCATION..."
	cmd.Example = strings.ReplaceAll(cmd.Example, "toolcrib approvals ", "toolcrib tool ")
	return cmd
}

// completeApprovals completes ids of requests that are pending.
func (a *app) completeApprovals(
	cmd *cobra.Command, _ []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ListApprovals(ctx, client.ApprovalQuery{
			Status: wait.Pending, Page: client.Page{Limit: completionNames},
		})
		return each(page.Items, func(v v1.Approval) string { return v.ID + "\t" + terminal.Shorten(v.Message, 60) }), err
	})
}
