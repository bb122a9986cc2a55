package httpcall

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/wait"
)

// Aims returns the argument that names the destination, under its path; nil for a
// tool that has none.
func Aims(_ string, config, arguments json.RawMessage) json.RawMessage {
	c, err := decode(config)
	if err != nil || c.Destinations == nil {
		return nil
	}
	args, err := readArguments(arguments)
	if err != nil {
		return nil
	}
	given, ok := args.find(c.Destinations.From)
	if !ok {
		return nil
	}
	aimed, err := place(nil, c.Destinations.From.Tokens(), given)
	if err != nil {
		return nil
	}
	return aimed
}

// ApprovalTarget returns the host and the credential of the destination that the
// arguments name, to which the approval of a call is bound. It fails with
// [tool.Invalid] where there is none of that name, before an approval is requested.
func ApprovalTarget(_ context.Context, aim wait.Aim) (wait.Target, error) {
	c, err := decode(aim.Config)
	if err != nil || c.Destinations == nil {
		return wait.TargetOf(aim.Content, aim.Config), nil //nolint:nilerr // The call fails with the fault.
	}
	name, err := c.Destinations.chosen(aim.Arguments)
	if err != nil {
		return wait.Target{}, err
	}
	object, err := readObject(aim.Config)
	if err != nil {
		return wait.Target{}, err
	}
	one, err := merged(object, c.Destinations.Of[name])
	if err != nil {
		return wait.Target{}, err
	}
	raw, err := json.Marshal(one)
	if err != nil {
		return wait.Target{}, fmt.Errorf("encoding a destination: %w", err)
	}
	return wait.TargetOf(aim.Content, raw), nil
}
