package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// confirms returns why a version itself asks for an approval of a call, and with which
// message; nothing where it does not. A condition that does not compile asks: it was checked
// when the version was made.
func (a *Activities) confirms(
	ctx context.Context, v *tool.Version, arguments json.RawMessage, by tool.Principal,
) (why, message string) {
	of := v.Snapshot.Interaction.Confirmation
	if of == nil {
		return "", ""
	}
	program, err := a.confirmations.Compile(*of)
	if err != nil {
		return "the tool's condition for a confirmation cannot be read", ""
	}
	return program.Asks(ctx, arguments, by), program.Message(ctx, arguments, by)
}

// confirmsCall is confirms for a call that is admitted.
func (a *Activities) confirmsCall(
	ctx context.Context, in *wire.InvokeInput, arguments json.RawMessage,
) (why, message string, err error) {
	if !in.Pin.Confirms {
		return "", "", nil
	}
	version, err := a.Resolver.Version(ctx, in.Principal.Tenant, in.Pin.ToolID, in.Pin.Digest)
	if err != nil {
		return "", "", fmt.Errorf("loading %s: %w", in.Pin, err)
	}
	why, message = a.confirms(ctx, version, arguments, in.Principal)
	return why, message, nil
}

// confirmed completes a request for approval with what the version says of it.
func (a *Activities) confirmed(ctx context.Context, in *wire.InvokeInput, r *wait.Request) error {
	version, err := a.Resolver.Version(ctx, in.Principal.Tenant, in.Pin.ToolID, in.Pin.Digest)
	if err != nil {
		return fmt.Errorf("loading %s: %w", in.Pin, err)
	}
	of := version.Snapshot.Interaction.Confirmation
	if of == nil {
		return nil
	}
	r.Needed = max(of.Approvals, 1)
	r.Permission = cmp.Or(of.Permission, r.Permission)
	if of.ExpiresSeconds > 0 {
		r.Expires = time.Duration(of.ExpiresSeconds) * time.Second
	}
	r.EscalateAfter, r.EscalateTo = time.Duration(of.EscalateAfterSeconds)*time.Second, of.EscalateTo
	return nil
}
