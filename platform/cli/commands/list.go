package commands

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

// paging are the flags that select a part of a list.
type paging struct {
	limit  int
	cursor string
	all    bool
}

// pagingFlags are the flags that say how much of a list to show, or of which list, and leave out nothing.
var pagingFlags = []string{"limit", "cursor", "all", "after", "registry", "assignments", "profiles"}

func (p *paging) register(cmd *cobra.Command) {
	cmd.Flags().IntVar(&p.limit, "limit", 0, fmt.Sprintf("how many at most (default %d)", v1.DefaultLimit))
	cmd.Flags().StringVar(&p.cursor, "cursor", "", "where to go on: what the page before gave")
	cmd.Flags().BoolVar(&p.all, "all", false, "everything, page by page")
}

// collect fetches as many pages as the flags ask for, and returns them as one.
func collect[T any](p paging, fetch func(client.Page) (v1.Page[T], error)) (v1.Page[T], error) {
	switch {
	case p.limit < 0:
		return v1.Page[T]{}, cli.Usagef("--limit %d: expected 1 or more, or --all", p.limit)
	case p.all && p.limit > 0:
		return v1.Page[T]{}, cli.Usagef("give one of --all and --limit")
	case p.limit == 0:
		p.limit = v1.DefaultLimit
	}
	out := v1.Page[T]{Items: []T{}, Next: p.cursor}
	for {
		want := client.Page{Cursor: out.Next, Limit: v1.MaxLimit}
		if !p.all {
			want.Limit = min(want.Limit, p.limit-len(out.Items))
		}
		got, err := fetch(want)
		if err != nil {
			return v1.Page[T]{}, err
		}
		out.Items, out.Next = append(out.Items, got.Items...), got.Next
		if out.Next == "" || !p.all && len(out.Items) >= p.limit {
			return out, nil
		}
	}
}

// listing describes the table of a list.
type listing[T any] struct {
	header string
	row    func(T) []string
	empty  string // Hint for an empty list without filters.
}

// listCommand makes the command that lists the records of one kind, which fetch
// returns page by page.
func listCommand[T any](
	a *app, short string, fetch func(*client.Client, context.Context, client.Page) (v1.Page[T], error), l listing[T],
) *cobra.Command {
	var p paging
	cmd := &cobra.Command{
		Use: "list", Short: short, Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			return showList(a, cmd, p, l, func(page client.Page) (v1.Page[T], error) { return fetch(c, cmd.Context(), page) })
		}),
	}
	p.register(cmd)
	return cmd
}

// showList fetches and prints as many pages of a list as the flags ask for.
func showList[T any](
	a *app, cmd *cobra.Command, p paging, l listing[T], fetch func(client.Page) (v1.Page[T], error),
) error {
	page, err := collect(p, fetch)
	if err != nil {
		return err
	}
	return showPage(a, filtered(cmd), page, l)
}

// showPage prints a page of a list. For an empty page the message goes to the
// error stream, so that standard output is empty for programs.
func showPage[T any](a *app, filtered bool, page v1.Page[T], l listing[T]) error {
	return a.Printer.Show(page, func(w io.Writer) error {
		if len(page.Items) == 0 {
			hint := l.empty
			if filtered {
				hint = "nothing here; the filters may leave out too much"
			}
			_, err := fmt.Fprintln(a.Env.Err, hint)
			return err
		}
		if err := terminal.Table(w, l.header, each(page.Items, l.row)); err != nil {
			return err
		}
		return a.more(page.Next)
	})
}

// each returns what of makes of every item, in their order.
func each[From, To any](items []From, of func(From) To) []To {
	out := make([]To, len(items))
	for i, item := range items {
		out[i] = of(item)
	}
	return out
}

// filtered reports whether a command line leaves out part of a list.
func filtered(cmd *cobra.Command) bool {
	found := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		found = found || f.Changed && !slices.Contains(pagingFlags, f.Name)
	})
	return found
}

// more prints that a list has further pages.
func (a *app) more(next string) error {
	if next == "" {
		return nil
	}
	_, err := fmt.Fprintf(a.Env.Err, "there is more: --all, or --cursor %s\n", terminal.Clean(next))
	return err
}
