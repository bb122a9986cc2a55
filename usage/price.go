package usage

import (
	"context"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Price is what calls of a tool or tokens of a model cost. Of the prices that are valid when a
// call or a turn ends, one counts: a tenant's before the platform's, one of the version before
// one of every version, and then the one that is valid since the latest time.
type Price struct {
	ID     string
	Tenant tool.TenantID // Empty for a price of the platform, for every tenant.

	ToolID  string // Of a tool's price.
	Tool    string // Its slug; stores fill it when they list prices.
	Version string // Of the tool, such as "1.2.0"; empty for every version.
	Model   string // Of a model's price: "provider/name".

	From  time.Time  // Now when zero.
	Until *time.Time // Nil for no end.

	Call   Micros // Per call of a tool that completed, or may have.
	Unit   *Unit  // What a tool's result reports beside.
	Tokens *Rates // Of a model.

	ChangedBy string
	ChangedAt time.Time
}

// Unit is a price per unit that the results of a tool report.
type Unit struct {
	// Pointer is the JSON Pointer to the number of units in the structured value of results, such
	// as "/pages". What is there and is no number from 0 to a trillion counts as 0.
	Pointer string
	Micros  Micros // Per unit.
	// Expected is how many units a call reserves in budgets, before it reports how many it used. One
	// when zero.
	Expected int64
}

// MaxExpected bounds [Unit.Expected].
const MaxExpected = 1_000_000_000_000

// Rates are prices per million tokens.
type Rates struct {
	Input     Micros
	Cached    *Micros // Input that is read from a cache; as Input when nil.
	Output    Micros
	Reasoning *Micros // Output that is not part of the answer; as Output when nil.
}

// Limits of prices.
const (
	MaxPointer = 200
	MaxModel   = 200
)

// Check fails with tool.Invalid, and the path of the field, for a price that means nothing.
func (p *Price) Check() error {
	switch {
	case (p.ToolID == "") == (p.Model == ""):
		return invalid("", "a price is of a tool or of a model: name one of both")
	case p.Until != nil && !p.From.IsZero() && !p.Until.After(p.From):
		return invalid("valid_until", "the price ends before it begins")
	case p.ToolID != "" && p.Tokens != nil:
		return invalid("tokens", "the price of a tool is per call, and per unit of its results")
	case p.Model != "" && (p.Tokens == nil || p.Call != 0 || p.Unit != nil || p.Version != ""):
		return invalid("tokens", "the price of a model is per million tokens: give those of input and output")
	case len(p.Model) > MaxModel || p.Model != "" && !strings.Contains(p.Model, "/"):
		return invalid("model", `name the model as agents do, "provider/name"`)
	}
	if err := checkAmount("per_call_micros", p.Call); err != nil {
		return err
	}
	if p.Unit != nil {
		if err := p.Unit.check(); err != nil {
			return err
		}
	}
	return p.Tokens.check()
}

func (u *Unit) check() error {
	if !strings.HasPrefix(u.Pointer, "/") || len(u.Pointer) > MaxPointer {
		return invalid("unit_pointer",
			"the units are at a JSON Pointer into the structured value of a result, such as /usage/pages")
	}
	if u.Expected < 0 || u.Expected > MaxExpected {
		return invalid("expected_units", "the number of units is out of range: 1 to a trillion")
	}
	return checkAmount("per_unit_micros", u.Micros)
}

// Path returns the parts of the pointer, as they are written in a result.
func (u *Unit) Path() []string {
	parts := strings.Split(u.Pointer, "/")[1:]
	for i := range parts {
		parts[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(parts[i])
	}
	return parts
}

func (r *Rates) check() error {
	if r == nil {
		return nil
	}
	amounts := []struct {
		path  string
		value *Micros
	}{
		{"input_micros", &r.Input},
		{"cached_input_micros", r.Cached},
		{"output_micros", &r.Output},
		{"reasoning_micros", r.Reasoning},
	}
	for _, a := range amounts {
		if a.value == nil {
			continue
		}
		if err := checkAmount(a.path, *a.value); err != nil {
			return err
		}
	}
	return nil
}

func checkAmount(path string, m Micros) error {
	if m < 0 || m > MaxMicros {
		return invalid(path, "the amount is out of range: 0 to "+MaxMicros.String())
	}
	return nil
}

func invalid(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "usage.Check", Path: path, Msg: msg}
}

// Prices is the record of prices. Package store implements it, for tenants and for the platform,
// whose tenant is the empty one.
type Prices interface {
	// SetPrice stores a checked price, in the place of one of the same thing from the same time. It
	// fails with tool.NotFound for a tool that the tenant does not see.
	SetPrice(ctx context.Context, p Price) (Price, error)
	// ListPrices returns prices of the tenant and of the platform, newest first; before is the id
	// of the last one of the page before.
	ListPrices(ctx context.Context, tenant tool.TenantID, before string, limit int) ([]Price, error)
	// DeletePrice deletes a price and returns it. It fails with tool.NotFound for one that is not the
	// tenant's.
	DeletePrice(ctx context.Context, tenant tool.TenantID, id string) (Price, error)
}
