package commands

import (
	"encoding/json"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/toolsession"
)

func (a *app) toolSessionCommand() *cobra.Command {
	return cli.Describe(cli.Group("tool-session", "Have several people submit to one tool",
		a.toolSessionCreateCommand(), a.toolSessionListCommand(), a.toolSessionShowCommand(),
		a.toolSessionSubmitCommand(), a.toolSessionSubmissionsCommand(), a.toolSessionAggregateCommand(),
		a.toolSessionLinkCommand(), a.toolSessionUnlinkCommand(),
		a.toolSessionEndCommand("complete", "Complete a session", toolsession.Completed),
		a.toolSessionEndCommand("cancel", "Cancel a session", toolsession.Cancelled)),
		`A session takes inputs of several people to one version of a tool whose definition has
collaborative: true, and joins the results as its aggregate says. With a link, people
submit without a login.`,
		`  toolcrib tool-session create voteLunch --title 'Lunch on Friday'
  toolcrib tool-session link SESSION
  toolcrib tool-session aggregate SESSION`)
}

func (a *app) toolSessionCreateCommand() *cobra.Command {
	var n v1.NewToolSession
	var config string
	cmd := cli.Describe(&cobra.Command{
		Use: "create TOOL", Short: "Make a session", Args: cli.Operands("tool"), ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			n.Tool = args[0]
			if config != "" {
				if !json.Valid([]byte(config)) {
					return cli.Usagef("--config: expected a JSON object, by the names of inputs")
				}
				n.Config = json.RawMessage(config)
			}
			made, err := c.CreateToolSession(cmd.Context(), n)
			if err != nil {
				return err
			}
			return a.showToolSession(made)
		}),
	}, `Makes a session of the version that is published now. Inputs of --config are the same
for each submission, and are not asked for.`,
		`  toolcrib tool-session create voteLunch --title 'Lunch on Friday' --config '{"day":"friday"}'`)
	flags := cmd.Flags()
	flags.StringVar(&n.Title, "title", "", "title of the page (default: the name of the tool)")
	flags.StringVar(&config, "config", "", "inputs that are the same for each submission, as a JSON object")
	flags.StringSliceVar(&n.EntityIDs, "entity", nil, "id of what the session is about; repeat it for several")
	return cmd
}

func (a *app) toolSessionListCommand() *cobra.Command {
	var p paging
	var f client.ToolSessionFilter
	var status string
	cmd := cli.Describe(&cobra.Command{
		Use: "list", Short: "List sessions", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			f.Status = toolsession.Status(status)
			return showList(a, cmd, p, listing[v1.ToolSession]{
				header: "SESSION TITLE~ TOOL STATUS SUBMISSIONS LINK",
				row: func(s v1.ToolSession) []string {
					link := "none"
					if s.Linked {
						link = "until " + terminal.Stamp(*s.LinkUntil)
					}
					return []string{
						s.ID, terminal.Clean(s.Title), s.Tool + "@" + s.Version, string(s.Status), strconv.Itoa(s.Submissions), link,
					}
				},
				empty: "no sessions: make one with toolcrib tool-session create TOOL",
			}, func(page client.Page) (v1.Page[v1.ToolSession], error) { return c.ToolSessions(cmd.Context(), f, page) })
		}),
	}, `Lists the tenant's sessions, newest first.`,
		`  toolcrib tool-session list --status active
  toolcrib tool-session list --tool voteLunch --json`)
	p.register(cmd)
	cmd.Flags().StringVar(&f.Tool, "tool", "", "only sessions of this tool")
	cmd.Flags().StringVar(&status, "status", "", "only sessions in this state: active, completed or cancelled")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeTools)
	return cmd
}

func (a *app) toolSessionShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show SESSION", Short: "Show a session", Args: cli.Operands("session"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.ToolSession(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.showToolSession(found)
		}),
	}, `Shows a session. Its link itself is not stored.`, `  toolcrib tool-session show SESSION`)
}

func (a *app) toolSessionSubmitCommand() *cobra.Command {
	var input string
	cmd := cli.Describe(&cobra.Command{
		Use: "submit SESSION", Short: "Submit an input to a session", Args: cli.Operands("session"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if !json.Valid([]byte(input)) {
				return cli.Usagef("--input: expected a JSON object, by the names of inputs")
			}
			made, err := c.SubmitToToolSession(cmd.Context(), args[0], json.RawMessage(input))
			if err != nil {
				return err
			}
			return a.Printer.Show(made, func(w io.Writer) error {
				return terminal.Pairs(w, "submission", made.ID, "status", string(made.Status), "output",
					terminal.Clean(string(made.Output)), "error", terminal.Clean(made.Error))
			})
		}),
	}, `Calls the session's version of the tool, with what the session fixes, and waits for the
result.`,
		`  toolcrib tool-session submit SESSION --input '{"choice":"soup"}'`)
	cmd.Flags().StringVar(&input, "input", "{}", "the input, as a JSON object")
	return cmd
}

func (a *app) toolSessionSubmissionsCommand() *cobra.Command {
	var p paging
	cmd := cli.Describe(&cobra.Command{
		Use: "submissions SESSION", Short: "List the submissions of a session", Args: cli.Operands("session"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			return showList(a, cmd, p, listing[v1.ToolSubmission]{
				header: "SUBMISSION BY~ STATUS INPUT~ OUTPUT~ AT",
				row: func(b v1.ToolSubmission) []string {
					by := b.Subject
					if b.Untrusted {
						by = "guest " + terminal.Clean(b.Guest)
					}
					return []string{
						b.ID, by, string(b.Status), terminal.Clean(string(b.Input)), terminal.Clean(string(b.Output)),
						terminal.Stamp(b.CreatedAt),
					}
				},
				empty: "nothing was submitted yet",
			}, func(page client.Page) (v1.Page[v1.ToolSubmission], error) {
				return c.ToolSubmissions(cmd.Context(), args[0], page)
			})
		}),
	}, `Lists the submissions, newest first. What a guest wrote came by the link: it is not
checked.`,
		`  toolcrib tool-session submissions SESSION --all`)
	p.register(cmd)
	return cmd
}

func (a *app) toolSessionAggregateCommand() *cobra.Command {
	var join bool
	cmd := cli.Describe(&cobra.Command{
		Use: "aggregate SESSION", Short: "Show what the submissions come to", Args: cli.Operands("session"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			joined, err := c.ToolSessionAggregate(cmd.Context(), args[0], join)
			if err != nil {
				return err
			}
			return a.Printer.Show(joined, func(w io.Writer) error {
				pairs := []string{
					"by", string(joined.Function), "of", joined.Of, "submissions", strconv.Itoa(joined.Submissions),
					"value", string(joined.Value),
				}
				for _, g := range joined.Groups {
					pairs = append(pairs, terminal.Clean(g.Value), strconv.Itoa(g.Count))
				}
				for _, r := range joined.Ranked {
					pairs = append(pairs, r.SubmissionID, string(r.Value))
				}
				return terminal.Pairs(w, append(pairs, "tool", joined.Tool, "run", joined.RunID, "output",
					terminal.Clean(string(joined.Output)))...)
			})
		}),
	}, `Joins the submissions that ended with a result, as the aggregate of the tool says. Where
a tool joins them, --call calls it.`,
		`  toolcrib tool-session aggregate SESSION
  toolcrib tool-session aggregate SESSION --call`)
	cmd.Flags().BoolVar(&join, "call", false, "call the tool that joins submissions")
	return cmd
}

func (a *app) toolSessionLinkCommand() *cobra.Command {
	var keep time.Duration
	cmd := cli.Describe(&cobra.Command{
		Use: "link SESSION", Short: "Give a session a link, or another one", Args: cli.Operands("session"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if err := toolsession.CheckKeep(keep); err != nil {
				return cli.Usagef("--expires: a link is good for a minute to 90 days")
			}
			made, err := c.LinkToolSession(cmd.Context(), args[0], keep)
			if err != nil {
				return err
			}
			return a.Printer.Show(made, func(w io.Writer) error {
				return terminal.Pairs(w, "session", made.ID, "title", terminal.Clean(made.Title), "link", made.URL)
			})
		}),
	}, `The link is shown once. Everyone who has it can submit without a login. The link that
the session had opens nothing from then on.`,
		`  toolcrib tool-session link SESSION --expires 24h`)
	cmd.Flags().DurationVar(&keep, "expires", toolsession.DefaultKeep, "how long the link is good")
	return cmd
}

func (a *app) toolSessionUnlinkCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "unlink SESSION", Short: "Revoke the link of a session", Args: cli.Operands("session"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.UnlinkToolSession(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(found, "the link of %s opens nothing any more", found.ID)
		}),
	}, `The link opens nothing from then on. The session goes on.`, `  toolcrib tool-session unlink SESSION`)
}

func (a *app) toolSessionEndCommand(word, short string, as toolsession.Status) *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: word + " SESSION", Short: short, Args: cli.Operands("session"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			ended, err := c.EndToolSession(cmd.Context(), args[0], as)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(ended, "%s is %s", ended.ID, string(ended.Status))
		}),
	}, `The session takes no submissions any more, and its link opens nothing, for good.`,
		`  toolcrib tool-session `+word+` SESSION`)
}

// showToolSession prints a session.
func (a *app) showToolSession(s v1.ToolSession) error {
	return a.Printer.Show(s, func(w io.Writer) error {
		link := "none"
		if s.Linked {
			link = "until " + terminal.Stamp(*s.LinkUntil)
		}
		return terminal.Pairs(w,
			"session", s.ID, "title", terminal.Clean(s.Title), "tool", s.Tool+"@"+s.Version, "status", string(s.Status),
			"aggregate", s.Aggregate, "submissions", strconv.Itoa(s.Submissions), "link", link, "made by", s.CreatedBy)
	})
}
