package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	maxAccept = 10
	maxFiles  = 10
)

// checkFiles checks what a question says of files.
func (q *Question) checkFiles(path string) error {
	says := len(q.Accept) > 0 || q.MaxFiles != 0 || q.MaxBytes != 0
	switch {
	case q.Type != File && says:
		return invalid(path, `accept, maxFiles and maxBytes are for questions of type "file"`)
	case q.MaxFiles < 0 || q.MaxFiles > maxFiles:
		return invalid(path+"/maxFiles", fmt.Sprintf("expected 1 to %d", maxFiles))
	case q.MaxBytes < 0:
		return invalid(path+"/maxBytes", "expected more than 0")
	case len(q.Accept) > maxAccept:
		return invalid(path+"/accept", fmt.Sprintf("expected at most %d media types", maxAccept))
	}
	for i, accept := range q.Accept {
		if !slices.ContainsFunc(file.MediaTypes(), func(t string) bool { return file.Accepts([]string{accept}, t) }) {
			return invalid(fmt.Sprintf("%s/accept/%d", path, i), fmt.Sprintf(
				"no file is a %.80q: expected such as image/*, %s", accept, joined(file.MediaTypes())))
		}
	}
	return nil
}

func joined(texts []string) string {
	var b bytes.Buffer
	for i, t := range texts {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(t)
	}
	return b.String()
}

// fileField is the field of a question for files.
func (q *Question) fileField() field.Field {
	f := field.Field{
		Key: q.ID, Label: q.Label, Help: q.Help, Required: !q.Optional, Type: field.Upload, Accept: q.Accept,
		MaxBytes: q.MaxBytes, Multiple: q.MaxFiles > 1,
	}
	if f.Multiple {
		most := q.MaxFiles
		f.MaxItems = &most
	}
	return f
}

// Attached are the files that were sent to a request, by their ids: an answer names no others.
type Attached map[string]file.File

// Attach returns files by their ids.
func Attach(files []file.File) Attached {
	out := make(Attached, len(files))
	for _, f := range files {
		out[f.ID] = f
	}
	return out
}

// readFiles reads the files of a field from their ids.
func readFiles(f *field.Field, ids []string, attached Attached) (value any, problem string) {
	var refs []file.Reference
	var seen []string
	for _, id := range ids {
		found, ok := attached[id]
		switch {
		case id == "" || slices.Contains(seen, id):
			continue
		case !ok || found.Kind != file.Uploaded:
			return nil, "a file is gone, or was not sent to this request: send it again"
		case !file.Accepts(f.Accept, found.MediaType):
			return nil, fmt.Sprintf("the file %q is %s: expected %s", found.Name, found.MediaType, joined(f.Accept))
		case f.MaxBytes > 0 && found.Size > f.MaxBytes:
			return nil, fmt.Sprintf("the file %q is too large: at most %d bytes", found.Name, f.MaxBytes)
		}
		seen = append(seen, id)
		refs = append(refs, found.Reference())
	}
	switch {
	case len(refs) == 0:
		return nil, ""
	case f.Multiple && len(refs) > MaxFiles(f):
		return nil, fmt.Sprintf("%d files are too many: at most %d are expected", len(refs), MaxFiles(f))
	case f.Multiple:
		return refs, ""
	case len(refs) > 1:
		return nil, "one file is expected"
	}
	return refs[0], ""
}

// MaxFiles is how many files a field takes.
func MaxFiles(f *field.Field) int {
	switch {
	case !f.Multiple:
		return 1
	case f.MaxItems != nil:
		return *f.MaxItems
	}
	return maxFiles
}

// readFileValue reads the files of a field from what a program submits: a reference, an id, or a list
// of them.
func readFileValue(f *field.Field, raw json.RawMessage, attached Attached) (value any, problem string) {
	const expected = "expected the file_id of a file that was sent to this request"
	all := []json.RawMessage{raw}
	if raw[0] == '[' && json.Unmarshal(raw, &all) != nil {
		return nil, expected
	}
	var ids []string
	for _, one := range all {
		var id string
		var ref file.Reference
		if json.Unmarshal(one, &id) != nil {
			if json.Unmarshal(one, &ref) != nil {
				return nil, expected
			}
			id = ref.FileID
		}
		if !tool.ValidID(id) {
			return nil, expected
		}
		ids = append(ids, id)
	}
	return readFiles(f, ids, attached)
}

// filesOf returns the ids of the files that an answer names, in the order of the form.
func filesOf(fields []field.Field, answer map[string]any) []string {
	var ids []string
	for _, f := range fields {
		switch v := answer[f.Key].(type) {
		case file.Reference:
			ids = append(ids, v.FileID)
		case []file.Reference:
			for _, ref := range v {
				ids = append(ids, ref.FileID)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// FileField returns the field for files of a key.
func (s *Spec) FileField(key string) (field.Field, bool) {
	for _, f := range s.Fields() {
		if f.Key == key && f.Type == field.Upload {
			return f, true
		}
	}
	return field.Field{}, false
}

// TakesFiles reports whether the form has a field for files.
func (s *Spec) TakesFiles() bool {
	return slices.ContainsFunc(s.Fields(), func(f field.Field) bool { return f.Type == field.Upload })
}
