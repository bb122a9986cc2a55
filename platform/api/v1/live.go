package v1

import (
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Events of the stream of topics, beside [EventEnd].
const (
	EventHello      = "hello"      // The first; its data is a [LiveHello].
	EventSubscribed = "subscribed" // A topic is followed; its data is a [LiveTopic].
	EventChanges    = "changes"    // What changed of a list; its data is a [LiveChanges].
	EventRunEvent   = "event"      // An event of a run, in the member event, with topic and cursor.
	EventMessage    = "message"    // A message of a space, in the member message, with topic and cursor.
	EventResync     = "resync"     // Events were left out: read again; its data is a [LiveTopic].
	EventClosed     = "closed"     // A topic is not followed; its data is a [LiveRefusal].
)

// LiveHello names a connection.
type LiveHello struct {
	Connection string `json:"connection" doc:"Names the connection, where its topics are changed" example:"5f0c2a9d1b7e4c3f8a6d0e2b4c6f8a1d"`
}

// LiveTopics are the topics that a connection is to follow from now on.
type LiveTopics struct {
	Topics []string `json:"topics" maxItems:"32" doc:"All of them: those that are left out end. A topic may have a cursor behind @, from which it goes on" example:"[\"runs\",\"run:01975c2e-7d1a-7c3e-9f00-0000000000c1@12\"]"`
}

// LiveState is what a connection follows.
type LiveState struct {
	Topics  []LiveTopic   `json:"topics"`
	Refused []LiveRefusal `json:"refused" doc:"Topics that are not there, or that may not be followed"`
}

// LiveTopic is a topic that is followed, and where.
type LiveTopic struct {
	Topic  string `json:"topic" example:"runs"`
	Cursor string `json:"cursor" doc:"What comes next is behind it. What was read before it is to be read again" example:"77"`
}

// LiveRefusal is a topic that is not followed.
type LiveRefusal struct {
	Topic  string    `json:"topic" example:"space:support"`
	Code   tool.Kind `json:"code" example:"not_found"`
	Detail string    `json:"detail" example:"space not found"`
}

// LiveChanges are changes since the cursor before, each thing once.
type LiveChanges struct {
	LiveTopic
	Changes []LiveChange `json:"changes"`
}

// LiveChange is what changed.
type LiveChange struct {
	RunID        string           `json:"run_id"`
	InvocationID string           `json:"invocation_id,omitempty" doc:"Of a call; also of its approval and of its request for input"`
	Types        []tool.EventType `json:"types" doc:"Events since, each type once" example:"[\"tool.started\"]"`
	At           time.Time        `json:"at" doc:"Of the last"`
}

// LiveEnd says that nothing follows of a topic: the run has ended.
type LiveEnd struct {
	LiveTopic
	StreamEnd
}
