package summary

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/executors/function"
)

// FieldInput names a field of a summary.
type FieldInput struct {
	SummaryID string `json:"summary_id"`
	Field     string `json:"field"`
	Fault     string `json:"fault,omitempty" jsonschema:"what was wrong with the answer before"`
}

// Request is what the composer is asked.
type Request struct {
	Message string `json:"message" jsonschema:"the message to the composer, as JSON"`
}

// Question is the message of a [Request].
type Question struct {
	Field   string             `json:"field"`
	Ask     string             `json:"ask"`
	Client  string             `json:"client"`
	Sources []Entity           `json:"sources"`
	Earlier map[string][]Claim `json:"earlier,omitempty"` // The fields of the layer before.
	Fault   string             `json:"fault,omitempty"`   // What was wrong with the answer before.
}

// ClaimsInput is what the composer answered for a field.
type ClaimsInput struct {
	SummaryID string  `json:"summary_id"`
	Field     string  `json:"field"`
	Claims    []Claim `json:"claims"`
}

// Target names a summary.
type Target struct {
	SummaryID string `json:"summary_id"`
	Reason    string `json:"reason,omitempty" jsonschema:"why it failed"`
}

// Standing is how far a summary is.
type Standing struct {
	Status Status `json:"status"`
	Fields int    `json:"fields"`
}

// steps are the functions that the graph calls.
type steps struct{ records *Records }

// find returns the caller's summary, with its engagement.
func (s steps) find(ctx context.Context, id string) (Summary, Engagement, error) {
	info, _ := function.InfoFrom(ctx)
	found, ok := s.records.Summary(id)
	if !ok || found.Tenant != info.Principal.Tenant {
		return Summary{}, Engagement{}, fmt.Errorf("there is no summary %q", id)
	}
	e, ok := s.records.Engagement(found.Engagement)
	if !ok {
		return Summary{}, Engagement{}, fmt.Errorf("the engagement %q is gone", found.Engagement)
	}
	return found, e, nil
}

// ask returns what the composer is asked for a field.
func (s steps) ask(ctx context.Context, in FieldInput) (Request, error) {
	found, e, err := s.find(ctx, in.SummaryID)
	if err != nil {
		return Request{}, err
	}
	f, ok := field(in.Field)
	if !ok {
		return Request{}, fmt.Errorf("a summary has no field %q", in.Field)
	}
	q := Question{Field: f.Name, Ask: f.Ask, Client: e.Client, Sources: e.Entities, Fault: in.Fault}
	if f.Layer == 2 {
		q.Earlier = found.Fields
	}
	raw, err := json.Marshal(q)
	return Request{Message: string(raw)}, err
}

// check says no to claims that do not cite what they rest on.
func (s steps) check(ctx context.Context, in ClaimsInput) (Standing, error) {
	found, e, err := s.find(ctx, in.SummaryID)
	if err != nil {
		return Standing{}, err
	}
	return Standing{found.Status, len(found.Fields)}, CheckCitations(in.Claims, e.Entities)
}

// save puts the claims of a field on the record, in the place of those there are.
func (s steps) save(ctx context.Context, in ClaimsInput) (Standing, error) {
	if _, err := s.check(ctx, in); err != nil {
		return Standing{}, err
	}
	return s.change(ctx, in.SummaryID, func(found *Summary) error {
		found.Fields[in.Field] = in.Claims
		return nil
	})
}

// finish completes a summary that has all fields.
func (s steps) finish(ctx context.Context, in Target) (Standing, error) {
	return s.change(ctx, in.SummaryID, func(found *Summary) error {
		var missing []string
		for _, f := range Fields {
			if len(found.Fields[f.Name]) == 0 {
				missing = append(missing, f.Name)
			}
		}
		if len(missing) > 0 {
			return fmt.Errorf("the summary lacks %s", strings.Join(missing, ", "))
		}
		found.Status, found.Reason = Complete, ""
		return nil
	})
}

// fail says on the record why a summary stays incomplete.
func (s steps) fail(ctx context.Context, in Target) (Standing, error) {
	return s.change(ctx, in.SummaryID, func(found *Summary) error {
		found.Status, found.Reason = Failed, in.Reason
		return nil
	})
}

func (s steps) change(ctx context.Context, id string, change func(*Summary) error) (Standing, error) {
	info, _ := function.InfoFrom(ctx)
	var now Standing
	err := s.records.Change(info.Principal.Tenant, id, func(found *Summary) error {
		err := change(found)
		now = Standing{found.Status, len(found.Fields)}
		return err
	})
	return now, err
}
