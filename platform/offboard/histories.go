package offboard

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/api/proxy"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/temporalproto"
	workflowpb "go.temporal.io/api/workflow/v1"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/store"
)

// execution is a line of the list of histories.
type execution struct {
	WorkflowID string     `json:"workflow_id"`
	RunID      string     `json:"run_id"`
	Type       string     `json:"type"`
	Status     string     `json:"status"`
	StartedAt  time.Time  `json:"started_at"`
	ClosedAt   *time.Time `json:"closed_at,omitempty"`
	File       string     `json:"file"`
	Undecoded  bool       `json:"undecoded,omitempty"`
}

// exportHistories writes the history of each execution of a tenant to a file, as Temporal's tools read
// it, and a list of them. What the payload keys encrypted is decoded as far as the keys are given.
func exportHistories(ctx context.Context, cfg Config, a *archive, tenant store.Tenant) (*Histories, error) {
	var counts Histories
	var all []execution // Names and times alone.
	err := cfg.eachWorkflow(ctx, tenant.ID, tenant.Slug, func(info *workflowpb.WorkflowExecutionInfo) error {
		e := execution{
			WorkflowID: info.GetExecution().GetWorkflowId(), RunID: info.GetExecution().GetRunId(),
			Type: info.GetType().GetName(), Status: info.GetStatus().String(), StartedAt: info.GetStartTime().AsTime(),
		}
		if info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING {
			counts.Open++
		}
		if at := info.GetCloseTime(); at != nil {
			e.ClosedAt = new(at.AsTime())
		}
		e.File = "histories/" + e.RunID + ".json"
		all = append(all, e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	written := all[:0]
	for _, e := range all {
		err := writeHistory(ctx, cfg, a, &e)
		if _, gone := errors.AsType[*serviceerror.NotFound](err); gone {
			a.Left(e.File, "it was deleted while the export was written")
			continue
		}
		if err != nil {
			return nil, unavailable("reading the history of "+e.WorkflowID, err)
		}
		if counts.Workflows++; e.Undecoded {
			counts.Undecoded++
		}
		written = append(written, e)
	}
	out, err := a.Create("histories.ndjson")
	if err != nil {
		return nil, err
	}
	enc := json.NewEncoder(out)
	for _, e := range written {
		if err := enc.Encode(e); err != nil {
			return nil, errors.Join(unwritable("histories.ndjson", err), out.Close())
		}
	}
	return &counts, out.Close()
}

// writeHistory writes a history event by event.
func writeHistory(ctx context.Context, cfg Config, a *archive, e *execution) error {
	const whole = enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT
	events := cfg.Temporal.GetWorkflowHistory(ctx, e.WorkflowID, e.RunID, false, whole)
	var out io.WriteCloser
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return closed(out, err)
		}
		separator := ",\n"
		if out == nil { // Behind the first answer, so that what is gone leaves no file.
			if out, err = a.Create(e.File); err != nil {
				return err
			}
			separator = "{\"events\":[\n"
		}
		decoded, err := decodeEvent(ctx, cfg.Keys, event)
		if err != nil {
			return closed(out, err)
		}
		e.Undecoded = e.Undecoded || !decoded
		raw, err := temporalproto.CustomJSONMarshalOptions{}.Marshal(event)
		if err != nil {
			return closed(out, err)
		}
		if _, err := io.WriteString(out, separator+string(raw)); err != nil {
			return closed(out, err)
		}
	}
	if out == nil {
		return serviceerror.NewNotFound("it has no events")
	}
	_, err := io.WriteString(out, "\n]}\n")
	return closed(out, err)
}

func closed(out io.Closer, err error) error {
	if out == nil {
		return err
	}
	return errors.Join(err, out.Close())
}

// decodeEvent decrypts the payloads of an event in place, and reports whether it could decrypt all.
func decodeEvent(ctx context.Context, keys *payload.Keyring, event *historypb.HistoryEvent) (whole bool, err error) {
	whole = true
	codec := payload.NewCodec(keys)
	err = proxy.VisitPayloads(ctx, event, proxy.VisitPayloadsOptions{
		Visitor: func(_ *proxy.VisitPayloadsContext, all []*commonpb.Payload) ([]*commonpb.Payload, error) {
			out := make([]*commonpb.Payload, len(all))
			for i, p := range all {
				out[i] = p
				if !payload.Encrypted(p) {
					continue
				}
				opened, err := codec.Decode([]*commonpb.Payload{p})
				if err != nil {
					whole = false
					continue
				}
				out[i] = opened[0]
			}
			return out, nil
		},
	})
	return whole, err
}
