package commands

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
)

// confirming makes calls, and confirms those that their caller may confirm.
type confirming struct {
	app    *app
	client *client.Client
}

// lookEvery is how long a call is waited for before it is looked whether it asks.
const lookEvery = time.Second / 2

// call makes a call and waits for its result. The call gets an id, if it has none, so that it
// is one however often its result is asked for.
func (m confirming) call(ctx context.Context, name string, in v1.NewCall) (v1.Call, error) {
	in.ID = cmp.Or(in.ID, uuid.NewString())
	left := 30.0 // Seconds; what the server waits when none are given.
	if in.WaitS != nil {
		left = *in.WaitS
	}
	for end := time.Now().Add(time.Duration(left * float64(time.Second))); ; {
		slice := max(min(time.Until(end), lookEvery), 0).Seconds()
		in.WaitS = &slice
		made, err := m.client.CallTool(ctx, name, in)
		if err != nil || made.Result != nil {
			return made, err
		}
		if asked := m.app.asked(ctx, m.client, made.RunID); asked.Own {
			if _, err := m.client.Approve(ctx, asked.ID, v1.Approve{Seen: asked.Binding}); err != nil {
				return made, fmt.Errorf("confirming the call: %w", err)
			}
		}
		if time.Now().After(end) {
			return made, nil
		}
	}
}
