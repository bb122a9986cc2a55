package commands

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

func (a *app) resultsCommand() *cobra.Command {
	cmd := cli.Describe(cli.Group("results", "Answer calls of tools that a client or another program runs",
		a.resultListCommand(), a.resultShowCommand(), a.resultSubmitCommand(), a.resultTokenCommand()),
		`A call of a tool of the type client waits until somebody outside submits its result:
a browser, a program, or you. A call keeps its first result.`,
		`  toolcrib results list --status open
  toolcrib results submit 01987a3c-0000-7000-8000-000000000002 --result '{"seat": "12A"}'`)
	cmd.Aliases = []string{"result"}
	return cmd
}

func (a *app) resultListCommand() *cobra.Command {
	var q client.PendingCallQuery
	cmd := cli.Describe(listCommand(a, "List calls that are answered from outside, newest first",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.PendingCall], error) {
			q.Page = page
			return c.ListPendingCalls(ctx, q)
		}, pendingCallListing), `Lists the calls of tools that a client or another program runs, as far as the filters
let them through. Those that take a result have the status open: waiting or pending.`,
		`  toolcrib results list --status open
  toolcrib results list --run 01987a3c-0000-7000-8000-000000000001`)
	cmd.Flags().StringVar((*string)(&q.Status), "status", "", "open, waiting, pending, resolved, expired or cancelled")
	cmd.Flags().StringVar(&q.Run, "run", "", "id of the run, or of its outermost run")
	cmd.Flags().StringVar(&q.Tool, "tool", "", "slug of the tool")
	return cmd
}

var pendingCallListing = listing[v1.PendingCall]{
	header: "CALL TOOL~ STATUS ARGUMENTS~ ANSWER CREATED",
	row: func(v v1.PendingCall) []string {
		left := ""
		if v.Status == wait.CallWaiting && v.AnswerBy != nil {
			left = terminal.Until(*v.AnswerBy)
		}
		return []string{
			v.ID, versioned(v.Tool, v.Version), string(v.Status), terminal.Shorten(string(v.Arguments), 60), left,
			terminal.Since(v.CreatedAt),
		}
	},
	empty: "no call was to be answered from outside yet: those of tools of the type client are",
}

func (a *app) resultShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show CALL", Short: "Show a call that is answered from outside", Args: cli.Operands("call"),
		ValidArgsFunction: a.completePendingCalls,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.PendingCall(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(found, func(w io.Writer) error { return writePendingCall(w, found) })
		}),
	}, `Shows the arguments of a call, until when it waits, and its result.`,
		`  toolcrib results show 01987a3c-0000-7000-8000-000000000002`)
}

func writePendingCall(w io.Writer, v v1.PendingCall) error {
	answerBy, result := "", ""
	if v.AnswerBy != nil {
		answerBy = terminal.Stamp(*v.AnswerBy)
	}
	if v.Result != nil {
		raw, err := json.Marshal(v.Result)
		if err != nil {
			return err //nolint:wrapcheck // It was JSON.
		}
		result = string(raw)
	}
	return terminal.Pairs(w,
		"call", v.ID, "tool", versioned(v.Tool, v.Version), "status", string(v.Status), "arguments", string(v.Arguments),
		"intent", string(v.Intent), "answer by", answerBy, "result", result, "submitted by", v.SubmittedBy,
		"call id", v.CallID, "run", v.RunID, "outermost run", otherwise(v.RootRunID, v.RunID), "for", v.Subject,
		"created", terminal.StampSince(v.CreatedAt), "expires", terminal.Stamp(v.ExpiresAt),
		"resolved", terminal.StampSinceOf(v.ResolvedAt))
}

func (a *app) resultSubmitCommand() *cobra.Command {
	var result, file string
	var isError bool
	cmd := cli.Describe(&cobra.Command{
		Use: "submit CALL", Short: "Submit the result of a call", Args: cli.Operands("call"),
		ValidArgsFunction: a.completePendingCalls,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			raw, err := readResult(cmd.InOrStdin(), result, file)
			if err != nil {
				return err
			}
			done, err := c.SubmitResult(cmd.Context(), args[0], v1.NewResult{Result: raw, IsError: isError})
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(done, "%s", submittedLine(done))
		}),
	}, `Submits the result of a call: any JSON value that the output schema of the tool takes.
The call keeps its first result; one that comes too late goes to the inbox of the run.`,
		`  toolcrib results submit 01987a3c-0000-7000-8000-000000000002 --result '{"seat": "12A"}'
  toolcrib results submit 01987a3c-0000-7000-8000-000000000002 --error --result "no seat is free"`)
	cmd.Flags().StringVar(&result, "result", "", "the result: JSON, or else a text, which does not look like JSON")
	cmd.Flags().StringVar(&file, "result-file", "", "file with it; - for the standard input")
	cmd.Flags().BoolVar(&isError, "error", false, "the result says why the call failed")
	return cmd
}

// readResult returns a result: JSON as it is, anything else as text. What only looks like JSON is refused, since a call
// keeps its first result.
func readResult(stdin io.Reader, text, file string) (json.RawMessage, error) {
	switch {
	case text != "" && file != "":
		return nil, cli.Usagef("give one of --result and --result-file")
	case text == "" && file == "":
		return nil, cli.Usagef("give the result: --result or --result-file")
	case file != "":
		raw, err := definition.ReadFile(file, stdin)
		if err != nil {
			return nil, &tool.Error{Kind: tool.NotFound, Msg: "reading the result: " + err.Error(), Err: err}
		}
		text = string(raw)
	}
	return jsonOrText("the result", text)
}

// jsonOrText returns a text that is JSON as it is, and any other as a JSON string. An object or an array that is not
// quite JSON is a mistake, and no text.
func jsonOrText(what, text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	within := func(first, last string) bool {
		return strings.HasPrefix(trimmed, first) && strings.HasSuffix(trimmed, last)
	}
	switch err := json.Unmarshal([]byte(text), new(json.RawMessage)); {
	case err == nil:
		return json.RawMessage(text), nil
	case within("{", "}") || within("[", "]"):
		return nil, &tool.Error{Kind: tool.Invalid, Err: err, Msg: fmt.Sprintf("%s looks like JSON and is not: %v; "+
			"a text that looks so is given as a JSON string", what, err)}
	default:
		return json.Marshal(text)
	}
}

func submittedLine(v v1.Submitted) string {
	name := terminal.Clean(versioned(v.Tool, v.Version))
	switch {
	case v.Repeated:
		return name + " had a result before, which it keeps"
	case v.Late:
		return name + " does not wait any more: the result is in the inbox of the run"
	default:
		return name + " has its result"
	}
}

func (a *app) resultTokenCommand() *cobra.Command {
	var expires time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "token CALL", Short: "Make a token that may submit the result of one call", Args: cli.Operands("call"),
		ValidArgsFunction: a.completePendingCalls,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			token, err := c.SubmitToken(cmd.Context(), args[0], expires)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(token, "%s", token.Token)
		}),
	}, `Makes a token for who has no key, such as a browser: it may see the call, and submit
its result once.`,
		`  toolcrib results token 01987a3c-0000-7000-8000-000000000002 --expires 10m`)
	cmd.Flags().DurationVar(&expires, "expires", time.Hour, "for how long it is good, at most 168h")
	return cmd
}

// completePendingCalls completes ids of calls that take a result.
func (a *app) completePendingCalls(
	cmd *cobra.Command, _ []string, typed string,
) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ListPendingCalls(ctx, client.PendingCallQuery{
			Status: wait.CallsOpen, Page: client.Page{Limit: completionNames},
		})
		return each(page.Items, func(v v1.PendingCall) string { return v.ID + "\t" + v.Tool }), err
	})
}
