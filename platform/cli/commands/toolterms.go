package commands

import (
	"io"
	"strconv"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// countedTerm is a value that tools are grouped by, with how many have it.
type countedTerm struct {
	Filter string `json:"filter"`
	tool.Term
	Tools int `json:"tools"`
}

func (a *app) toolTermsCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "terms", Short: "List what tools are grouped by, and how many there are of each", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			taxonomy, err := c.Taxonomy(cmd.Context())
			if err != nil {
				return err
			}
			counted, err := c.ToolFacets(cmd.Context())
			if err != nil {
				return err
			}
			all := termsOf(taxonomy, counted)
			return a.Printer.Show(v1.Page[countedTerm]{Items: all}, func(w io.Writer) error {
				return terminal.Table(w, "FILTER NAME TOOLS MEANING~", each(all, func(t countedTerm) []string {
					tools := strconv.Itoa(t.Tools)
					if !counted.Complete {
						tools += "+"
					}
					return []string{t.Filter, t.Name, tools, t.Label + ". " + t.Description}
				}))
			})
		}),
	}, `Lists the buckets, implementation types, egress classes, risks and statuses that
"tool list" filters by, in words, with the number of tools of each.`, `  toolcrib tool terms`)
}

func termsOf(t v1.Taxonomy, counted v1.ToolFacets) []countedTerm {
	var out []countedTerm
	for _, group := range []struct {
		filter string
		terms  []tool.Term
		counts []v1.Facet
	}{
		{"--tool-type", t.Buckets, counted.Buckets},
		{"--type", t.Subtypes, counted.Subtypes},
		{"--status", t.Statuses, counted.Statuses},
		{"--egress-class", t.EgressClasses, counted.EgressClasses},
		{"--risk", t.Risks, counted.Risks},
	} {
		for _, is := range group.terms {
			one := countedTerm{Filter: group.filter, Term: is}
			for _, f := range group.counts {
				if f.Name == is.Name {
					one.Tools = f.Tools
				}
			}
			out = append(out, one)
		}
	}
	return out
}
