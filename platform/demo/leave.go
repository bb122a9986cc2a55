package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// leaveToPeople starts the desk and the buyer once more, and leaves to the person who opens the console what was
// answered for them before: the approval of a refund, and a question about a colour. It returns when both wait.
func (d *demo) leaveToPeople(ctx context.Context) error {
	d.say("\n  Left for you\n")
	ctx, cancel := context.WithTimeout(ctx, runTimeout)
	defer cancel()
	d.company.service.Reset() // The first run has paid the order back.
	err := d.step("a refund waits for your approval", func() (string, error) {
		return d.leave(ctx, "supportDesk", message, tool.EventNeedsApproval)
	})
	if err != nil {
		return err
	}
	return d.step("an agent waits for your answer", func() (string, error) {
		return d.leave(ctx, "buyer", teapotsRunOut, tool.EventPending)
	})
}

// errWaits ends the reading of a run's events once one waits for a person.
var errWaits = errors.New("it waits")

// leave starts a run of an agent and follows it up to the first event of a type.
func (d *demo) leave(ctx context.Context, agent, text string, until tool.EventType) (string, error) {
	input, err := json.Marshal(text)
	if err != nil {
		return "", fmt.Errorf("encoding the message: %w", err)
	}
	run, err := d.api.StartRun(ctx, v1.NewRun{Agent: agent, Input: input, Mode: tool.Production})
	if err != nil {
		return "", err
	}
	ended, err := d.api.Follow(ctx, run.ID, func(e tool.Event) error {
		if e.Type == until {
			return errWaits
		}
		return nil
	})
	switch {
	case errors.Is(err, errWaits):
		return "run " + run.ID, nil
	case err != nil:
		return "", err
	default:
		return "", fmt.Errorf("the run is %s, without having asked a person: %s", ended.Status, ended.Error)
	}
}
