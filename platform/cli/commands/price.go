package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/usage"
)

func (a *app) priceCommand() *cobra.Command {
	return cli.Describe(cli.Group("price", "Say what calls and tokens cost",
		a.priceSetCommand(), a.priceListCommand(), a.priceRemoveCommand()),
		`Prices make costs of what is used (toolcrib usage). The price of a tool is per call, and
per unit that its results report; that of a model is per million tokens. Amounts are
decimal numbers of one currency, which is yours to choose, exact to a millionth.

A tenant's price counts before the platform's (--all-tenants), one of a version before
one of every version, and then the one that is valid since the latest time. What ended
before keeps its cost.`,
		`  toolcrib price set --model openai/gpt-5-mini --input 0.25 --cached-input 0.025 --output 2
  toolcrib price set --tool readInvoice --per-call 0.002 --per-unit 0.0005 --unit /pages
  toolcrib price list`)
}

// priceFlags are what a price is given by.
type priceFlags struct {
	in                                                v1.NewPrice
	perCall, perUnit, input, cached, output, reasoned string
	from, until                                       string
}

func (f *priceFlags) register(a *app, cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.in.Tool, "tool", "", "slug of the tool")
	flags.StringVar(&f.in.Version, "version", "", "of the tool (default: every version)")
	flags.StringVar(&f.perCall, "per-call", "", "amount per call of the tool")
	flags.StringVar(&f.perUnit, "per-unit", "", "amount per unit that a result reports")
	flags.StringVar(&f.in.UnitPointer, "unit", "", "JSON Pointer to the units, in the structured value of a result")
	flags.Int64Var(&f.in.ExpectedUnits, "expect-units", 0,
		"how many units a call reserves in budgets before it reports them (default 1)")
	flags.StringVar(&f.in.Model, "model", "", "the model, as agents name it")
	flags.StringVar(&f.input, "input", "", "amount per million input tokens")
	flags.StringVar(&f.cached, "cached-input", "", "per million of them that are read from a cache (default: as --input)")
	flags.StringVar(&f.output, "output", "", "amount per million output tokens")
	flags.StringVar(&f.reasoned, "reasoning", "", "per million of them that are not the answer's (default: as --output)")
	flags.StringVar(&f.from, "from", "", "day or time from which it is valid (default: now)")
	flags.StringVar(&f.until, "until", "", "day or time from which it is not (default: no end)")
	_ = cmd.RegisterFlagCompletionFunc("tool", a.completeTools)
	cmd.MarkFlagsMutuallyExclusive("tool", "model")
}

// price returns what the flags say.
func (f *priceFlags) price() (v1.NewPrice, error) {
	in := f.in
	if (in.Tool == "") == (in.Model == "") {
		return in, cli.Usagef("name what has the price: --tool or --model")
	}
	if in.Tool != "" && f.perCall+f.perUnit == "" {
		return in, cli.Usagef("give the price of the tool: --per-call, or --per-unit with --unit")
	}
	if in.Model != "" && (f.input == "" || f.output == "") {
		return in, cli.Usagef("give the price of the model: --input and --output, per million tokens")
	}
	for _, amount := range []struct {
		flag, text string
		set        func(*int64)
	}{
		{"per-call", f.perCall, func(m *int64) { in.PerCallMicros = *m }},
		{"per-unit", f.perUnit, func(m *int64) { in.PerUnitMicros = *m }},
		{"input", f.input, func(m *int64) { in.InputMicros = m }},
		{"cached-input", f.cached, func(m *int64) { in.CachedInputMicros = m }},
		{"output", f.output, func(m *int64) { in.OutputMicros = m }},
		{"reasoning", f.reasoned, func(m *int64) { in.ReasoningMicros = m }},
	} {
		if amount.text == "" {
			continue
		}
		m, err := usage.ParseMoney(amount.text, usage.MaxMicros)
		if err != nil {
			return in, cli.Usagef("--%s: %w", amount.flag, err)
		}
		amount.set(new(int64(m)))
	}
	var err error
	if in.ValidFrom, err = dayOrTime("from", f.from); err != nil {
		return in, err
	}
	in.ValidUntil, err = dayOrTime("until", f.until)
	return in, err
}

// dayOrTime reads a day in UTC, or a time; nil for none.
func dayOrTime(flag, text string) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			return &t, nil
		}
	}
	return nil, cli.Usagef("--%s %q: expected a day such as 2026-03-01, or a time such as 2026-03-01T09:00:00Z", flag,
		text)
}

func (a *app) priceSetCommand() *cobra.Command {
	var f priceFlags
	var everyone everyTenant
	cmd := cli.Describe(&cobra.Command{
		Use: "set", Short: "Set the price of a tool or of a model", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, err := f.price()
			if err != nil {
				return err
			}
			var set v1.Price
			if everyone.all {
				err = everyone.prices(cmd.Context(), a, func(prices usage.Prices, r *registry.Registry) error {
					var of tool.Tool
					if in.Tool != "" {
						if of, err = r.Get(cmd.Context(), tool.Principal{}, tool.Ref{Slug: in.Tool}); err != nil {
							return err
						}
					}
					price := in.Price(of)
					price.ChangedBy = "platform"
					stored, err := prices.SetPrice(cmd.Context(), price)
					set = v1.FromPrice(stored)
					return err
				})
			} else {
				var c *client.Client
				if c, err = a.Connect(); err != nil {
					return err
				}
				defer c.Close()
				set, err = c.SetPrice(cmd.Context(), in)
			}
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(set, "%s costs %s", terminal.Clean(pricedThing(set)), priceInWords(set))
		},
	}, `Sets a price of the tenant, or with --all-tenants of the platform. It replaces the one
of the same thing from the same time on. A price that is to be valid from a later time
is set before with --from, and the one before it stays valid until then.

Units are what a tool's results report: a number at a place of their structured value,
such as /pages. The server reads it there; callers report no costs.`,
		`  toolcrib price set --model openai/gpt-5-mini --input 0.25 --cached-input 0.025 --output 2
  toolcrib price set --tool readInvoice --per-call 0.002 --per-unit 0.0005 --unit /pages
  toolcrib price set --tool readInvoice --version 2.0.0 --per-call 0.003 --from 2026-04-01`)
	f.register(a, cmd)
	everyone.register(cmd)
	return cmd
}

// prices calls do with the prices of the platform and the registry of global tools.
func (e *everyTenant) prices(
	ctx context.Context, a *app, do func(usage.Prices, *registry.Registry) error,
) error {
	url, err := a.DatabaseURL(e.database)
	if err != nil {
		return err
	}
	owner, err := store.OpenPlatform(ctx, url, store.Options{Logger: a.Logger(), MaxConns: 1})
	if err != nil {
		return err
	}
	defer owner.Close()
	return do(owner.Prices(), registry.New(owner.Registry(), registry.Options{}))
}

func (a *app) priceListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List prices, newest first",
		(*client.Client).Prices, listing[v1.Price]{
			header: "PRICE OF~ BY COSTS~ FROM UNTIL",
			row: func(p v1.Price) []string {
				return []string{
					p.ID, pricedThing(p), p.By, priceInWords(p), terminal.Stamp(p.ValidFrom), terminal.StampOf(p.ValidUntil),
				}
			},
			empty: "no prices: set one with toolcrib price set",
		}), `Lists prices of the tenant and of the platform, also those that are not valid now.`,
		`  toolcrib price list --all`)
}

func (a *app) priceRemoveCommand() *cobra.Command {
	var everyone everyTenant
	cmd := cli.Describe(&cobra.Command{
		Use: "remove PRICE", Short: "Remove a price, by its id", Args: cli.Operands("price"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var gone v1.Price
			var err error
			if everyone.all {
				err = everyone.prices(cmd.Context(), a, func(prices usage.Prices, _ *registry.Registry) error {
					deleted, err := prices.DeletePrice(cmd.Context(), "", args[0])
					gone = v1.FromPrice(deleted)
					return err
				})
			} else {
				var c *client.Client
				if c, err = a.Connect(); err != nil {
					return err
				}
				defer c.Close()
				gone, err = c.DeletePrice(cmd.Context(), args[0])
			}
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "the price %s is removed", gone.ID)
		},
	}, `What ended before keeps its cost. An earlier price of the same thing counts again, if
there is one that is valid.`,
		`  toolcrib price remove 01987a3c-0000-7000-8000-000000000004`)
	everyone.register(cmd)
	return cmd
}

// pricedThing names what has a price.
func pricedThing(p v1.Price) string {
	switch {
	case p.Model != "":
		return p.Model
	case p.Version != "":
		return p.Tool + "@" + p.Version
	default:
		return p.Tool
	}
}

// priceInWords describes a price in a line.
func priceInWords(p v1.Price) string {
	var parts []string
	add := func(amount *int64, per string) {
		if amount != nil {
			parts = append(parts, fmt.Sprintf("%s %s", usage.Micros(*amount), per))
		}
	}
	add(p.PerCallMicros, "a call")
	add(p.PerUnitMicros, "per "+p.UnitPointer)
	add(p.InputMicros, "input")
	add(p.CachedInputMicros, "cached")
	add(p.OutputMicros, "output")
	add(p.ReasoningMicros, "reasoning")
	words := strings.Join(parts, ", ")
	if p.Model != "" {
		words += " per million tokens"
	}
	return words
}
