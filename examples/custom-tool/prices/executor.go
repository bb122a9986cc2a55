package prices

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// List is an executor over price lists by their names. Which one a tool looks
// into, its configuration says: {"executor": "priceList", "list": "retail"}.
type List map[string]map[string]int64

// Default are the lists of the example, in cents.
var Default = List{
	"retail":    {"TEAPOT-BLUE": 2450, "CUP-WHITE": 450},
	"wholesale": {"TEAPOT-BLUE": 1900, "CUP-WHITE": 310},
}

// config is what a tool configures. The name of the executor stands beside it.
type config struct {
	List string `json:"list"`
}

// Execute implements [tool.Executor]. What is not in the list is an answer
// "no", which the model can act on.
func (l List) Execute(_ context.Context, call *tool.Call) (*tool.Result, error) {
	list, err := l.listOf(call.Version.Snapshot.Config)
	if err != nil {
		return nil, err
	}
	var in struct {
		SKU string `json:"sku"`
	}
	if err := json.Unmarshal(call.Arguments, &in); err != nil {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "prices.Execute", Msg: "the arguments are no object", Err: err}
	}
	cents, ok := l[list][in.SKU]
	if !ok {
		return tool.ErrorResult(fmt.Sprintf("%s has no price in %s", in.SKU, list)), nil
	}
	raw, err := json.Marshal(map[string]any{"sku": in.SKU, "cents": cents})
	if err != nil {
		return nil, fmt.Errorf("encoding the price: %w", err)
	}
	return tool.JSONResult(raw), nil
}

// CheckConfig judges a tool before it is published.
func (l List) CheckConfig(raw json.RawMessage) error {
	_, err := l.listOf(raw)
	return err
}

// InputSchema is what a tool takes whose author does not say.
func (l List) InputSchema(json.RawMessage) json.RawMessage {
	return json.RawMessage(`{
		"type": "object",
		"properties": {"sku": {"type": "string", "description": "What to look up."}},
		"required": ["sku"],
		"additionalProperties": false
	}`)
}

func (l List) listOf(raw json.RawMessage) (string, error) {
	var c config
	if err := json.Unmarshal(raw, &c); err != nil || l[c.List] == nil {
		return "", &tool.Error{
			Kind: tool.Invalid, Op: "prices.CheckConfig", Path: "/list",
			Msg: fmt.Sprintf("%q is no price list: there is %s", c.List, strings.Join(slices.Sorted(maps.Keys(l)), ", ")),
		}
	}
	return c.List, nil
}
