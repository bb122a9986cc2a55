// Package definition reads and writes the files that define tools, agents, MCP
// servers, artifacts and pipelines: YAML and JSON documents, where each value
// is in its file, the programs that artifacts name, and the arguments of a call
// that are given as flags.
//
// It knows nothing of commands, connections or the API.
package definition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Document is one definition in a file.
type Document struct {
	file   string
	Raw    json.RawMessage
	places map[string]place // By JSON Pointer.
	source []byte           // The whole file.
}

// place is a position in a file, counted from 1.
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

	absent string // Pointer to what the fault is about, where the file does not have it.
}

func (e *FileError) Error() string {
	msg := e.Msg
	if e.absent != "" {
		msg = "at " + e.absent + ": " + msg
	}
	if e.Line == 0 {
		return e.File + ": " + msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, msg)
}

// Fault returns a fault of the document at a JSON Pointer, or at the nearest
// place around it.
func (d Document) Fault(pointer, msg string) *FileError {
	e := &FileError{File: d.file, Msg: msg}
	for wanted := pointer; ; {
		if at, ok := d.places[spelling(pointer)]; ok {
			e.Line, e.Column = at.line, at.column
			e.quote(d.source)
			if pointer != wanted {
				e.absent = wanted
			}
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

// Read reads the definitions in files and folders, in the order of
// names. "-" is the standard input.
func Read(ctx context.Context, paths []string, stdin io.Reader) ([]Document, error) {
	var all []Document
	for _, path := range paths {
		files, err := definitionFiles(ctx, path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			raw, err := readDefinition(ctx, file, stdin)
			if err != nil {
				return nil, err
			}
			documents, err := Parse(file, raw)
			if err != nil {
				return nil, err
			}
			if err := refuseShown(documents); err != nil {
				return nil, err
			}
			if err := withPrograms(documents); err != nil {
				return nil, err
			}
			all = append(all, documents...)
		}
	}
	if len(all) == 0 {
		return nil, &tool.Error{Kind: tool.Invalid, Msg: "there are no definitions in " + named(paths)}
	}
	return all, nil
}

// named lists paths as people say them.
func named(paths []string) string {
	out := slices.Clone(paths)
	for i, path := range out {
		if path == "-" {
			out[i] = "the standard input"
		}
	}
	return strings.Join(out, ", ")
}

// refuseShown refuses the output of "tool show --json": a tool with its
// versions and the fields that the server sets.
func refuseShown(documents []Document) error {
	for _, d := range documents {
		var shown struct {
			Tool     map[string]json.RawMessage `json:"tool"`
			Versions []json.RawMessage          `json:"versions"`
		}
		if json.Unmarshal(d.Raw, &shown) == nil && shown.Tool != nil && shown.Versions != nil {
			return d.Fault("/tool", "this is what toolcrib tool show prints: use toolcrib tool export for what apply takes")
		}
	}
	return nil
}

// Unreadable says why a file cannot be read.
func Unreadable(file string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "there is no file or folder " + file
	}
	if cause := errors.Unwrap(err); cause != nil {
		err = cause
	}
	return fmt.Sprintf("%s cannot be read: %v", file, err)
}

// ReadFile reads a file, or the standard input if its name is "-".
func ReadFile(file string, stdin io.Reader) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(file) //nolint:gosec // Its user names the file.
}

// maxDefinitionBytes bounds a file of definitions.
const maxDefinitionBytes = 32 << 20

// readDefinition reads a file of definitions, or the standard input until ctx
// ends. A file that is replaced by something else meanwhile is refused.
func readDefinition(ctx context.Context, file string, stdin io.Reader) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, interrupted(err)
	}
	if file == "-" {
		return readUntil(ctx, file, stdin)
	}
	before, err := regular(file)
	if err != nil {
		return nil, err
	}
	opened, err := os.Open(file) //nolint:gosec // Its user names the file.
	if err != nil {
		return nil, &tool.Error{Kind: tool.NotFound, Msg: Unreadable(file, err), Err: err}
	}
	defer func() { _ = opened.Close() }()
	if after, err := opened.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, &tool.Error{Kind: tool.Conflict, Msg: file + " was replaced while it was read", Err: err}
	}
	return readUntil(ctx, file, opened)
}

// readUntil reads to the end, or until ctx ends: a terminal or pipe that never
// ends does not keep the command from stopping on a signal.
func readUntil(ctx context.Context, file string, r io.Reader) ([]byte, error) {
	type answer struct {
		raw []byte
		err error
	}
	read := make(chan answer, 1)
	go func() {
		raw, err := io.ReadAll(io.LimitReader(r, maxDefinitionBytes+1))
		read <- answer{raw, err}
	}()
	select {
	case <-ctx.Done():
		return nil, interrupted(ctx.Err())
	case got := <-read:
		switch {
		case got.err != nil:
			return nil, fmt.Errorf("reading %s: %w", file, got.err)
		case len(got.raw) > maxDefinitionBytes:
			return nil, &tool.Error{Kind: tool.Invalid, Msg: fmt.Sprintf("%s is longer than %d bytes", file, maxDefinitionBytes)}
		}
		return got.raw, nil
	}
}

func interrupted(err error) error {
	return &tool.Error{Kind: tool.Cancelled, Msg: "interrupted: nothing was applied", Err: err}
}

// regular returns the file information of a path, if it is a regular file. A
// symbolic link is refused too: in a folder of another user it may lead to any
// file of this user, whose content would be sent.
func regular(path string) (fs.FileInfo, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, &tool.Error{Kind: tool.NotFound, Msg: "there is no file or folder " + path, Err: err}
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return nil, &tool.Error{
			Kind: tool.Invalid,
			Msg: path + " is a symbolic link, which is not followed: name the file that it leads to, or pass its " +
				"content to -f -",
		}
	case !mode.IsRegular():
		return nil, &tool.Error{Kind: tool.Invalid, Msg: path + " is no regular file: pass its content to -f -"}
	}
	return info, nil
}

// definitionFiles lists the YAML and JSON files at a path.
func definitionFiles(ctx context.Context, path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		_, err := regular(path)
		return []string{path}, err
	}
	var files []string
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return interrupted(ctx.Err())
		case entry.IsDir() && file != path && strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(file)):
			if _, err := regular(file); err != nil {
				return err
			}
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return files, nil
}
