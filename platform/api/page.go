package api

import (
	"encoding/base64"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Paging is how every list is paged. It is exported for the framework, which
// fills the fields of embedded structs only then.
type Paging struct {
	Cursor string `query:"cursor" maxLength:"300" doc:"Start of the page: next of the previous page"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// fetch is how many items to query: one more than the page holds, which shows
// whether there is another page.
func (in Paging) fetch() int { return in.Limit + 1 }

// before returns the last id of the previous page.
func (in Paging) before() (string, error) {
	id, err := openCursor(in.Cursor)
	if err != nil || id != "" && !tool.ValidID(id) {
		return "", badCursor()
	}
	return id, nil
}

// page makes a page of the fetched items. place returns the position of an item
// in the order of the list.
func page[T, V any](in Paging, fetched []T, show func(T) V, place func(T) string) v1.Page[V] {
	out := v1.Page[V]{Items: make([]V, 0, min(len(fetched), in.Limit))}
	for i, item := range fetched {
		if i == in.Limit {
			out.Next = sealCursor(place(fetched[i-1]))
			break
		}
		out.Items = append(out.Items, show(item))
	}
	return out
}

// A cursor is opaque to callers, so that an order may change.
func sealCursor(place string) string { return base64.RawURLEncoding.EncodeToString([]byte(place)) }

// openCursor returns the position that a cursor holds; empty for the first page.
func openCursor(cursor string) (string, error) {
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", badCursor()
	}
	return string(raw), nil
}

func badCursor() error {
	return &tool.Error{
		Kind: tool.Invalid, Op: "api", Path: "cursor", Msg: "the cursor is malformed: use next of the previous page",
	}
}
