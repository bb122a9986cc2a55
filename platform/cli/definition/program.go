package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ProgramBytes is how much of a program is read: one byte more than the limit,
// so that the server refuses a program that is too long.
const ProgramBytes = 4<<20 + 1

// languages are those of programs, by the ends of their files' names.
var languages = map[string]string{".js": "javascript", ".mjs": "javascript", ".jq": "jq", ".wasm": "wasm"}

// LanguageOf returns the language of a program by the end of its file name, or
// the empty string.
func LanguageOf(file string) string { return languages[strings.ToLower(filepath.Ext(file))] }

// withPrograms puts the programs of artifacts that name a file, relative to
// their own and in its folder or below, into their definitions.
func withPrograms(documents []Document) error {
	for i := range documents {
		var fields map[string]json.RawMessage
		if json.Unmarshal(documents[i].Raw, &fields) != nil || string(fields["kind"]) != `"artifact"` ||
			fields["file"] == nil {
			continue
		}
		program, err := documents[i].program(fields)
		if err != nil {
			return documents[i].Fault("/file", err.Error())
		}
		delete(fields, "file")
		if fields["content_base64"], err = json.Marshal(program); err != nil {
			return fmt.Errorf("encoding a program: %w", err)
		}
		if documents[i].Raw, err = json.Marshal(fields); err != nil {
			return fmt.Errorf("encoding a definition: %w", err)
		}
	}
	return nil
}

// program reads the file that a definition names. The path cannot leave the
// definition's folder, so that an untrusted definition reads no other file.
func (d Document) program(fields map[string]json.RawMessage) ([]byte, error) {
	var name string
	if err := json.Unmarshal(fields["file"], &name); err != nil {
		return nil, errors.New("expected the name of a file")
	}
	for _, other := range []string{"source", "content_base64", "contentBase64"} {
		if fields[other] != nil {
			return nil, fmt.Errorf("file and %s are the same program: expected one of them", other)
		}
	}
	if d.file == "-" {
		return nil, errors.New("a definition on the standard input has no folder: give its program in source or " +
			"content_base64")
	}
	root, err := os.OpenRoot(filepath.Dir(d.file))
	if err != nil {
		return nil, fmt.Errorf("opening the definition's folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Lstat(filepath.Clean(name)); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file; symbolic links are not followed", name)
	}
	opened, err := root.Open(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("the file %s can't be read: %w", name, err)
	}
	defer func() { _ = opened.Close() }()
	program, err := io.ReadAll(io.LimitReader(opened, ProgramBytes))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(program) == 0 {
		return nil, fmt.Errorf("the file %s is empty", name)
	}
	if fields["language"] == nil {
		if language := LanguageOf(name); language != "" {
			fields["language"] = json.RawMessage(`"` + language + `"`)
		}
	}
	return program, nil
}
