package kitchen

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/tool"
)

// ConvertInput is a weight, and the unit that it is wanted in.
type ConvertInput struct {
	Value float64 `json:"value" jsonschema:"how much there is"`
	From  string  `json:"from" jsonschema:"unit of the value: g, kg, oz or lb"`
	To    string  `json:"to" jsonschema:"unit that is wanted: g, kg, oz or lb"`
}

// Converted is the weight in the unit that was wanted.
type Converted struct {
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// grams is what one of each unit weighs.
var grams = map[string]float64{"g": 1, "kg": 1000, "oz": 28.349523125, "lb": 453.59237}

func convert(_ context.Context, in ConvertInput) (Converted, error) {
	from, to := grams[in.From], grams[in.To]
	if from == 0 || to == 0 {
		return Converted{}, fmt.Errorf("unknown units %s and %s: use g, kg, oz or lb", in.From, in.To)
	}
	return Converted{Value: in.Value * from / to, Unit: in.To}, nil
}

// Recipe is what goes into a dish.
type Recipe struct {
	Ingredients []Ingredient `json:"ingredients" jsonschema:"what goes into the dish"`
	Factor      float64      `json:"factor" jsonschema:"how many times the dish is wanted"`
}

// Ingredient is one thing that goes into a dish, and how much of it.
type Ingredient struct {
	Name  string  `json:"name"`
	Grams float64 `json:"grams"`
}

func scale(ctx context.Context, in Recipe) ([]Ingredient, error) {
	if in.Factor <= 0 {
		return nil, errors.New("factor has to be above 0")
	}
	out := make([]Ingredient, 0, len(in.Ingredients))
	for i, one := range in.Ingredients {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out = append(out, Ingredient{Name: one.Name, Grams: one.Grams * in.Factor})
		tool.AppendOutput(ctx, fmt.Sprintf("%.0f g %s\n", one.Grams*in.Factor, one.Name))
		tool.ReportProgress(ctx, tool.Progress{
			Message: "scaled " + one.Name, Done: float64(i + 1), Total: float64(len(in.Ingredients)),
		})
	}
	return out, nil
}

// inLowerCase is middleware around one function: units may be written in any
// case. It passes on a changed copy of the call.
func inLowerCase(next tool.Executor) tool.Executor {
	return tool.ExecutorFunc(func(ctx context.Context, call *tool.Call) (*tool.Result, error) {
		lower := *call
		lower.Arguments = bytes.ToLower(call.Arguments)
		return next.Execute(ctx, &lower)
	})
}

// Define registers the kitchen's functions.
func Define(reg *function.Registry) error {
	return errors.Join(
		function.Define(reg, "convertWeight", "Converts a weight from one unit to another.", convert, function.Pure(),
			function.With(inLowerCase)),
		function.Define(reg, "scaleRecipe", "Scales the ingredients of a recipe.", scale, function.Pure()),
	)
}
