package activities

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

// complete prepares the raw arguments of a call. The result depends on the pinned version and overrides alone, so every
// attempt, and the settlement of the call, computes the same.
func (a *Activities) complete(ctx context.Context, in *wire.InvokeInput) error {
	if !in.Raw {
		return nil
	}
	if in.Node != nil {
		if err := a.bindNode(ctx, in); err != nil {
			return err
		}
	}
	return a.prepareRaw(ctx, in)
}

// prepareRaw prepares the arguments that in has.
func (a *Activities) prepareRaw(ctx context.Context, in *wire.InvokeInput) error {
	version, err := a.Resolver.Adapted(ctx, in.Principal.Tenant, in.Pin.ToolID, in.Pin.Digest, in.Pin.Overrides)
	if err != nil {
		return fmt.Errorf("loading %s: %w", in.Pin, err)
	}
	input, err := a.Schemas.Compile(version.Snapshot.InputSchema)
	if err != nil {
		return fmt.Errorf("compiling the input schema of %s: %w", in.Pin, err)
	}
	arguments, receipt, err := input.PrepareFilling(ctx, in.Arguments, version.Defaults)
	if err != nil {
		return err
	}
	in.Arguments, in.Raw = arguments, false
	if len(receipt) > 0 {
		in.Receipt, _ = json.Marshal(receipt) // Plain strings: it cannot fail.
	}
	if in.ArgumentsDigest, err = tool.Digest(arguments); err != nil {
		return &tool.Error{Kind: tool.Invalid, Op: "activities.complete", Msg: "the arguments are not JSON", Err: err}
	}
	return nil
}
