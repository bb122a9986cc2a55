package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/space"
	"github.com/toolcrib/toolcrib/tool"
)

type listNotesInput struct {
	AgentPath
	Paging
	Kind string `query:"kind" enum:",goal,memory,plan" doc:"Only notes of this kind"`
	Key  string `query:"key" maxLength:"64" doc:"Only the notes with this key: one of each kind at most"`
}

type deleteNoteInput struct {
	AgentPath
	Kind string `query:"kind" required:"true" enum:"goal,memory,plan"`
	Key  string `query:"key" required:"true" minLength:"1" maxLength:"64" doc:"As the list of notes shows it"`
}

// whoseNotes says what notes are, and why seeing every space is needed for them.
const whoseNotes = "Goals, memories and plans belong to the agent, not to a run or a space: they may hold what was " +
	"said in any of its spaces, and therefore need `spaces.write`."

func (s *server) registerNotes() {
	handle(s, route{
		id: "listAgentNotes", method: http.MethodGet, path: "/v1/agents/{agent}/notes", tag: "spaces",
		permission: SpacesWrite, summary: "List the notes that an agent keeps, by kind and key", detail: whoseNotes,
	}, s.listNotes)
	handle(s, route{
		id: "deleteAgentNote", method: http.MethodDelete, path: "/v1/agents/{agent}/notes", tag: "spaces",
		permission: SpacesWrite, summary: "Delete a note of an agent",
		detail: whoseNotes + " Its runs do not see the note from their next turn on; what they said of it stays in " +
			"their transcripts.",
	}, s.deleteNote)
}

// notesOf returns the id of an agent and its notes.
func (s *server) notesOf(
	ctx context.Context, p tool.Principal, name string, kind space.NoteKind,
) (string, []space.Note, error) {
	a, err := s.cfg.Registry.GetAgent(ctx, p, name)
	if err != nil {
		return "", nil, err
	}
	notes, err := s.cfg.Store.ListNotes(ctx, p.Tenant, a.ID, kind)
	return a.ID, notes, err
}

// listNotes pages in memory: an agent keeps at most [space.MaxNotes] of a kind.
func (s *server) listNotes(ctx context.Context, p tool.Principal, in *listNotesInput) (*listed[v1.Note], error) {
	after, err := openCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	var last space.Note
	if after != "" {
		kind, key, ok := strings.Cut(after, "/")
		last = space.Note{Kind: space.NoteKind(kind), Key: key}
		if !ok || !slices.Contains(space.NoteKinds(), last.Kind) {
			return nil, badCursor()
		}
	}
	_, notes, err := s.notesOf(ctx, p, in.Agent, space.NoteKind(in.Kind))
	if err != nil {
		return nil, err
	}
	notes = slices.DeleteFunc(notes, func(n space.Note) bool {
		return in.Key != "" && n.Key != in.Key || after != "" && byKindAndKey(n, last) <= 0
	})
	slices.SortFunc(notes, byKindAndKey)
	shown, err := s.maskOf(ctx, p.Tenant)
	if err != nil {
		return nil, err
	}
	return answer(page(in.Paging, notes, shown.note, func(n space.Note) string {
		return string(n.Kind) + "/" + n.Key
	})), nil
}

func byKindAndKey(a, b space.Note) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Key, b.Key))
}

func (s *server) deleteNote(ctx context.Context, p tool.Principal, in *deleteNoteInput) (*body[v1.Note], error) {
	kind := space.NoteKind(in.Kind)
	id, notes, err := s.notesOf(ctx, p, in.Agent, kind)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(notes, func(n space.Note) bool { return n.Key == in.Key })
	if at < 0 {
		return nil, noNote(in)
	}
	gone, err := s.cfg.Store.DeleteNotes(ctx, p.Tenant, id, kind, []string{in.Key})
	if err != nil {
		return nil, err
	}
	if len(gone) == 0 { // Somebody else deleted it meanwhile.
		return nil, noNote(in)
	}
	return answer(s.changedMask(ctx, p.Tenant).note(notes[at])), nil
}

func noNote(in *deleteNoteInput) error {
	return &tool.Error{Kind: tool.NotFound, Op: "api.deleteNote", Msg: fmt.Sprintf(
		"the agent has no %s with the key %q: list its notes", in.Kind, in.Key)}
}

func (m mask) note(of space.Note) v1.Note {
	shown := v1.FromNote(of)
	shown.Text = m.text(shown.Text)
	return shown
}
