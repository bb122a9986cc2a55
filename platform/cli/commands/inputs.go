package commands

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/wait"
)

func (a *app) inputsCommand() *cobra.Command {
	cmd := cli.Describe(cli.Group("inputs", "Requests of agents for people's input, and links to their pages",
		a.inputListCommand(), a.inputShowCommand(), a.inputLinkCommand(), a.inputRevokeCommand()),
		`An agent asks a person with the tool request_input, and waits. Send the person a link: it
opens a page on which they answer, without an account.`,
		`  toolcrib inputs list --status open
  toolcrib inputs link 01987a3c-0000-7000-8000-000000000002`)
	cmd.Aliases = []string{"input"}
	return cmd
}

func (a *app) inputListCommand() *cobra.Command {
	var q client.InputRequestQuery
	cmd := cli.Describe(listCommand(a, "List requests for people's input, newest first",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.InputRequest], error) {
			q.Page = page
			return c.ListInputRequests(ctx, q)
		}, inputListing), `Lists the requests of agents for people's input, as far as the filters let them through.
Those that take an answer have the status open: waiting or pending.`,
		`  toolcrib inputs list --status open
  toolcrib inputs list --run 01987a3c-0000-7000-8000-000000000001`)
	cmd.Flags().StringVar((*string)(&q.Status), "status", "", "open, waiting, pending, resolved, expired or cancelled")
	cmd.Flags().StringVar(&q.Run, "run", "", "id of the run, or of its outermost run")
	return cmd
}

var inputListing = listing[v1.InputRequest]{
	header: "REQUEST TITLE~ STATUS ANSWER CREATED",
	row: func(v v1.InputRequest) []string {
		left := ""
		if v.Status == wait.CallWaiting && v.AnswerBy != nil {
			left = terminal.Until(*v.AnswerBy)
		}
		return []string{v.ViewID, terminal.Shorten(v.Title, 60), string(v.Status), left, terminal.Since(v.CreatedAt)}
	},
	empty: "no agent asked a person yet: they do with the tool request_input",
}

func (a *app) inputShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show REQUEST", Short: "Show a request for input, and its answer", Args: cli.Operands("request"),
		ValidArgsFunction: a.completeInputs,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.InputRequest(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(found, func(w io.Writer) error {
				answerBy := ""
				if found.AnswerBy != nil {
					answerBy = terminal.Stamp(*found.AnswerBy)
				}
				return terminal.Pairs(w,
					"request", found.ViewID, "title", found.Title, "instructions", found.Instructions, "status", string(found.Status),
					"fields", string(found.Fields), "answer by", answerBy, "answer", string(found.Answer),
					"answered by", found.AnsweredBy, "run", found.RunID, "outermost run", otherwise(found.RootRunID, found.RunID),
					"created", terminal.StampSince(found.CreatedAt), "expires", terminal.Stamp(found.ExpiresAt),
					"answered", terminal.StampSinceOf(found.AnsweredAt))
			})
		}),
	}, `Shows what a person is asked, until when the run waits, and the answer.`,
		`  toolcrib inputs show 01987a3c-0000-7000-8000-000000000002`)
}

func (a *app) inputLinkCommand() *cobra.Command {
	var expires time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "link REQUEST", Short: "Make a link to the page of a request for input", Args: cli.Operands("request"),
		ValidArgsFunction: a.completeInputs,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if expires < time.Minute {
				return cli.Usagef("--expires %s is too short: expected 1m to 168h", expires)
			}
			link, err := c.InputLink(cmd.Context(), args[0], expires)
			if err != nil {
				return err
			}
			if strings.HasPrefix(link.ShareURL, "/") { // The server has no public address.
				link.ShareURL = strings.TrimSuffix(c.Server(), "/") + link.ShareURL
			}
			return a.Printer.ShowLine(link, "%s", link.ShareURL)
		}),
	}, `Makes a link for a person without an account: who has it can see the request, and
answer it once.`,
		`  toolcrib inputs link 01987a3c-0000-7000-8000-000000000002 --expires 2h`)
	cmd.Flags().DurationVar(&expires, "expires", 24*time.Hour, "for how long it is good, 1m to 168h")
	return cmd
}

func (a *app) inputRevokeCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "revoke REQUEST", Short: "Revoke all links of a request for input", Args: cli.Operands("request"),
		ValidArgsFunction: a.completeInputs,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.RevokeInputLinks(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(found, "the links of %s open nothing any more", found.ViewID)
		}),
	}, `Revokes all links and tokens of a request. The request stays open.`,
		`  toolcrib inputs revoke 01987a3c-0000-7000-8000-000000000002`)
}

// completeInputs completes ids of requests that take an answer.
func (a *app) completeInputs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ListInputRequests(ctx, client.InputRequestQuery{
			Status: wait.CallsOpen, Page: client.Page{Limit: completionNames},
		})
		return each(page.Items, func(v v1.InputRequest) string {
			return v.ViewID + "\t" + terminal.Shorten(v.Title, 60)
		}), err
	})
}
