// Package function runs tools of the implementation type function: Go
// functions that the host registered by name. A tool's configuration can name
// a registered function and nothing else.
//
//	reg := function.NewRegistry()
//	err := function.Define(reg, "convertUnits", "Converts a length between units.",
//		func(ctx context.Context, in ConvertInput) (ConvertOutput, error) { … },
//		function.Pure())
//
// Both JSON Schemas come from the Go types, by way of their json and
// jsonschema tags.
package function
