package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// listTopics are the topics of lists: what they need, and which events change them.
var listTopics = map[string]struct {
	needs string
	shows func(tool.EventType) bool
}{
	topicRuns: {RunsRead, func(tool.EventType) bool { return true }},
	topicApprovals: {ApprovalsRead, func(e tool.EventType) bool {
		return slices.Contains([]tool.EventType{
			tool.EventNeedsApproval, tool.EventApproved, tool.EventEscalated, tool.EventRejected, tool.EventExpired,
			tool.EventCancelled,
		}, e)
	}},
	topicWaiting: {ResultsSubmit, func(e tool.EventType) bool {
		return slices.Contains([]tool.EventType{
			tool.EventPending, tool.EventResultReceived, tool.EventExpired, tool.EventCancelled, tool.EventCompleted,
			tool.EventFailed,
		}, e)
	}},
}

// changesOf returns the event of a page of events: what changed, each thing once.
func changesOf(shows func(tool.EventType) bool) func([]frame, v1.LiveTopic) ([]frame, error) {
	return func(frames []frame, at v1.LiveTopic) ([]frame, error) {
		out := v1.LiveChanges{LiveTopic: at}
		places := map[[2]string]int{}
		for _, f := range frames {
			if !shows(f.eventType) {
				continue
			}
			key := [2]string{f.run, f.call}
			i, known := places[key]
			if !known {
				i = len(out.Changes)
				places[key] = i
				out.Changes = append(out.Changes, v1.LiveChange{RunID: f.run, InvocationID: f.call})
			}
			c := &out.Changes[i]
			c.At = f.at
			if !slices.Contains(c.Types, f.eventType) {
				c.Types = append(c.Types, f.eventType)
			}
		}
		if len(out.Changes) == 0 {
			return nil, nil
		}
		return []frame{framed(v1.EventChanges, out)}, nil
	}
}

// eventsOf returns the events of a run, each with its own cursor.
func eventsOf(frames []frame, at v1.LiveTopic) ([]frame, error) {
	return each(v1.EventRunEvent, "event", frames, at)
}

func messagesOf(frames []frame, at v1.LiveTopic) ([]frame, error) {
	return each(v1.EventMessage, "message", frames, at)
}

// each puts what was read into events of a name, which have it as a member.
func each(name, member string, frames []frame, at v1.LiveTopic) ([]frame, error) {
	topic, err := json.Marshal(at.Topic)
	if err != nil {
		return nil, fmt.Errorf("writing the topic %q: %w", at.Topic, err)
	}
	out := make([]frame, len(frames))
	for i, f := range frames {
		var b bytes.Buffer
		fmt.Fprintf(&b, `{"topic":%s,"cursor":%q,%q:%s}`, topic, f.id, member, f.data)
		out[i] = frame{id: f.id, eventType: tool.EventType(name), data: b.Bytes()}
	}
	return out, nil
}
