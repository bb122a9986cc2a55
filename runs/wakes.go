package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

// maxWokenText bounds the text that an agent is woken with, in bytes; it reads the rest.
const maxWokenText = 32 << 10

// WakeAgents wakes at most limit agents, of any tenant, that messages of spaces wake: those go to
// the inbox of the agent's run that goes on, or begin one. It returns how many were woken. Several
// processes may do so at the same time.
func (s *Service) WakeAgents(ctx context.Context, limit int) (woken int, err error) {
	keys, err := s.cfg.Store.ClaimWakes(ctx, limit, startLease)
	if err != nil {
		return 0, fmt.Errorf("claiming agents to wake: %w", err)
	}
	var group errgroup.Group
	group.SetLimit(dispatchWidth)
	var done atomic.Int64
	for _, key := range keys {
		group.Go(func() error {
			if err := s.wake(ctx, key); err != nil {
				return fmt.Errorf("waking agent %s in space %s: %w", key.AgentID, key.SpaceID, err)
			}
			done.Add(1)
			return nil
		})
	}
	err = group.Wait()
	s.overdue.count(OverdueWake, len(keys), int(done.Load()))
	return int(done.Load()), err //nolint:wrapcheck // It says what failed.
}

// wake wakes one agent. What may succeed later is tried again when the lease ends; what cannot is
// said with the message.
func (s *Service) wake(ctx context.Context, key space.WakeKey) error {
	w, err := s.cfg.Store.DeliverWake(ctx, key, wokenBy)
	if err != nil || w == nil {
		return err //nolint:wrapcheck // The caller says what failed.
	}
	input, err := json.Marshal(wokenBy(*w))
	if err != nil {
		return fmt.Errorf("encoding the input: %w", err)
	}
	err = s.beginWoken(ctx, w, NewRun{
		Request: Request{ID: w.RunID}, Principal: w.Principal, Agent: w.AgentID, Mode: tool.Production, Input: input,
	})
	reason := ""
	switch e := tool.AsError(err); {
	case err == nil: // The wake ended with the record of the run.
	case errors.Is(err, space.ErrWakeOver):
		return nil
	case e.Kind.Retryable() || ctx.Err() != nil:
		return err
	default:
		reason = fmt.Sprintf("agent %s was not woken: %s", w.Agent, e.Msg)
	}
	return s.cfg.Store.EndWake(ctx, *w, reason) //nolint:wrapcheck // As above.
}

// beginWoken begins the run of a wake.
func (s *Service) beginWoken(ctx context.Context, w *space.Wake, n NewRun) error {
	run, err := s.newRun(ctx, n)
	if err != nil {
		return err
	}
	_, err = s.begin(ctx, n, run, takenOver{woken: w})
	return err
}

// wokenBy is what an agent is told that is woken by messages.
func wokenBy(w space.Wake) string {
	var b strings.Builder
	fmt.Fprintf(&b, "New messages in the space %s (%s). Enter it with enter_space to answer there.", w.Space.Slug,
		space.OneLine(w.Space.Name))
	left := 0
	for i, m := range w.Messages {
		line := fmt.Sprintf("\n[%s] %s", space.OneLine(m.From.String()), space.Indented(m.Text))
		if b.Len()+len(line) > maxWokenText && i < len(w.Messages)-1 {
			left++
			continue
		}
		b.WriteString(tool.Clip(line, maxWokenText))
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n(%d more: read_messages)", left)
	}
	return b.String()
}

// wakeDue is one round of waking agents; a failure is reported where it is found.
func (s *Service) wakeDue(ctx context.Context) {
	_, err := s.WakeAgents(ctx, DispatchLimit)
	if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		s.overdue.failed(OverdueWake)
		if tool.KindOf(err) != tool.Unavailable {
			s.log.WarnContext(ctx, "waking agents failed; it is tried again", slog.Any("error", err))
		}
	}
}
