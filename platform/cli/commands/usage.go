package commands

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/usage"
)

func (a *app) usageCommand() *cobra.Command {
	var q client.UsageQuery
	var asCSV bool
	cmd := cli.Describe(&cobra.Command{
		Use: "usage", Short: "Report calls, tokens and costs by tool, agent, model or day", Args: cli.Operands(),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, _ []string) error {
			report, err := c.Usage(cmd.Context(), q)
			if err != nil {
				return err
			}
			if asCSV {
				return writeUsageCSV(a.Printer.Out, report)
			}
			return a.Printer.Show(report, func(w io.Writer) error { return writeUsage(w, report) })
		}),
	}, `Reports what the tenant used on days in UTC, this month if none are named. By tool,
turns of models are left out, and by model, calls of tools; any other report has both.
Costs are in the currency of the prices (toolcrib price). UNPRICED counts turns whose
model had no price, whose cost is not in the sum.`,
		`  toolcrib usage
  toolcrib usage --by model --from 2026-03-01 --to 2026-03-31
  toolcrib usage --by day,agent --csv > usage.csv`)
	flags := cmd.Flags()
	flags.StringVar(&q.GroupBy, "by", "", "tool, agent, model or day; several with commas")
	flags.StringVar(&q.From, "from", "", "first day, such as 2026-03-01 (default: of this month)")
	flags.StringVar(&q.To, "to", "", "last day (default: today)")
	flags.BoolVar(&asCSV, "csv", false, "print comma-separated values, with amounts in millionths")
	a.CompleteFlag(cmd, "by", cli.Words("tool agent model day"))
	return cmd
}

// usageColumns are the columns of counts, with their names in CSV.
var usageColumns = []struct {
	csv   string
	value func(v1.Counts) int64
}{
	{"calls", func(c v1.Counts) int64 { return c.Calls }},
	{"failed_calls", func(c v1.Counts) int64 { return c.FailedCalls }},
	{"call_ms", func(c v1.Counts) int64 { return c.CallMS }},
	{"turns", func(c v1.Counts) int64 { return c.Turns }},
	{"input_tokens", func(c v1.Counts) int64 { return c.InputTokens }},
	{"cached_input_tokens", func(c v1.Counts) int64 { return c.CachedInputTokens }},
	{"output_tokens", func(c v1.Counts) int64 { return c.OutputTokens }},
	{"reasoning_tokens", func(c v1.Counts) int64 { return c.ReasoningTokens }},
	{"unpriced_turns", func(c v1.Counts) int64 { return c.UnpricedTurns }},
	{"cost_micros", func(c v1.Counts) int64 { return c.CostMicros }},
}

// countHeader is the header of countCells.
const countHeader = " CALLS FAILED MS TURNS INPUT CACHED OUTPUT REASONING UNPRICED COST"

func countCells(c v1.Counts) []string {
	cells := make([]string, 0, len(usageColumns))
	for _, column := range usageColumns {
		cells = append(cells, strconv.FormatInt(column.value(c), 10))
	}
	cells[len(cells)-1] = usage.Micros(c.CostMicros).String()
	return cells
}

// groupCells returns the values by which a row is grouped.
func groupCells(report v1.UsageReport, u v1.Usage) []string {
	cells := make([]string, 0, len(report.GroupBy))
	for _, group := range report.GroupBy {
		switch usage.Group(group) {
		case usage.ByDay:
			cells = append(cells, u.Day)
		case usage.ByAgent:
			cells = append(cells, u.Agent)
		case usage.ByTool:
			cells = append(cells, u.Tool)
		case usage.ByModel:
			cells = append(cells, u.Model)
		}
	}
	return cells
}

func writeUsage(w io.Writer, report v1.UsageReport) error {
	header := strings.ToUpper(strings.Join(report.GroupBy, " ")) + countHeader
	rows := each(report.Items, func(u v1.Usage) []string {
		cells := groupCells(report, u)
		for i, cell := range cells {
			if cell == "" {
				cells[i] = "-"
			}
		}
		return append(cells, countCells(u.Counts)...)
	})
	if len(report.Items) != 1 && len(report.GroupBy) > 0 {
		last := append([]string{"total"}, slices.Repeat([]string{""}, len(report.GroupBy)-1)...)
		rows = append(rows, append(last, countCells(report.Total)...))
	}
	if len(rows) == 0 {
		rows = append(rows, countCells(report.Total))
	}
	return terminal.Table(w, strings.TrimSpace(header), rows)
}

// writeUsageCSV writes the rows of a report without their sum.
func writeUsageCSV(w io.Writer, report v1.UsageReport) error {
	out := csv.NewWriter(w)
	header := append([]string{}, report.GroupBy...)
	for _, column := range usageColumns {
		header = append(header, column.csv)
	}
	rows := [][]string{header}
	for _, item := range report.Items {
		row := groupCells(report, item)
		for _, column := range usageColumns {
			row = append(row, strconv.FormatInt(column.value(item.Counts), 10))
		}
		rows = append(rows, row)
	}
	return out.WriteAll(rows)
}

func (a *app) runUsageCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "usage RUN", Short: "Show the tokens and costs of a run, in all and by turn", Args: cli.Operands("run"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			used, err := c.RunUsage(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(used, func(w io.Writer) error { return writeRunUsage(w, used) })
		}),
	}, `Shows the turns of the run itself, and a sum with its calls and with the runs below it.`,
		`  toolcrib run usage 01987a3c-0000-7000-8000-000000000001`)
}

func writeRunUsage(w io.Writer, used v1.RunUsage) error {
	rows := each(used.Turns, func(t v1.TurnUsage) []string {
		cost := "unknown"
		if t.CostMicros != nil {
			cost = usage.Micros(*t.CostMicros).String()
		}
		return []string{
			strconv.Itoa(t.Turn), t.Model, strconv.FormatInt(t.InputTokens, 10), strconv.FormatInt(t.CachedInputTokens, 10),
			strconv.FormatInt(t.OutputTokens, 10), strconv.FormatInt(t.ReasoningTokens, 10), cost,
		}
	})
	if len(rows) > 0 {
		if err := terminal.Table(w, "TURN MODEL INPUT CACHED OUTPUT REASONING COST", rows); err != nil {
			return err
		}
	}
	below := ""
	if used.Below > 0 {
		below = strconv.FormatInt(used.Below, 10)
	}
	return terminal.Pairs(w, "calls", strconv.FormatInt(used.Total.Calls, 10), "turns",
		strconv.FormatInt(used.Total.Turns, 10), "input tokens", strconv.FormatInt(used.Total.InputTokens, 10),
		"output tokens", strconv.FormatInt(used.Total.OutputTokens, 10), "cost", usage.Micros(used.Total.CostMicros).String(),
		"turns without a price", strconv.FormatInt(used.Total.UnpricedTurns, 10), "runs below, in the sum", below)
}
