package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// document is one definition as it stands in a file.
type document struct {
	file   string
	raw    json.RawMessage
	places map[string]place // By JSON Pointer.
	source []byte           // The whole file.
}

// place is where something stands in a file, counted from 1.
type place struct {
	line, column int
}

// FileError is a fault of a definition, and where it is.
type FileError struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	Msg    string `json:"message"`
	Source string `json:"-"` // The line as it stands there.
}

func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Msg)
}

// fault returns a fault of the document at a JSON Pointer, or at the nearest
// place around it.
func (d document) fault(pointer, msg string) *FileError {
	e := &FileError{File: d.file, Msg: msg}
	for {
		if at, ok := d.places[spelling(pointer)]; ok {
			e.Line, e.Column = at.line, at.column
			e.quote(d.source)
			return e
		}
		cut := strings.LastIndexByte(pointer, '/')
		if cut < 0 {
			return e
		}
		pointer = pointer[:cut]
	}
}

// spelling makes pointers comparable whose names are spelled differently:
// inputSchema, input-schema and input_schema.
func spelling(pointer string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(pointer))
}

// readDefinitions reads the definitions in files and folders, in the order of
// names. "-" stands for the standard input.
func readDefinitions(paths []string, stdin io.Reader) ([]document, error) {
	var all []document
	for _, path := range paths {
		files, err := definitionFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			raw, err := readFile(file, stdin)
			if err != nil {
				return nil, err
			}
			documents, err := parseDocuments(file, raw)
			if err != nil {
				return nil, err
			}
			if err := withPrograms(documents); err != nil {
				return nil, err
			}
			all = append(all, documents...)
		}
	}
	if len(all) == 0 {
		return nil, &tool.Error{Kind: tool.Invalid, Msg: "there are no definitions in " + strings.Join(paths, ", ")}
	}
	return all, nil
}

func readFile(file string, stdin io.Reader) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(file) //nolint:gosec // Its user names the file.
}

// definitionFiles lists the YAML and JSON files at a path.
func definitionFiles(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &tool.Error{Kind: tool.NotFound, Msg: "there is no file or folder " + path, Err: err}
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && file != path && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return files, nil
}
