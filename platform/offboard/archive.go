package offboard

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// archive writes the files of an export to a folder, or to a tar file. It implements
// [store.TenantArchive].
type archive struct {
	target string
	tar    *tar.Writer // Nil for a folder.
	file   *os.File    // Of the tar file, under a name of its own until it is whole.
	files  []File
	left   []Left
	step   func(at string)
}

// partial ends the name of a tar file that is not whole.
const partial = ".partial"

// isTar reports whether a target is a tar file rather than a folder.
func isTar(target string) bool { return strings.HasSuffix(target, ".tar") }

// createArchive makes the target, which must not exist, or be an empty folder.
func createArchive(target string, step func(at string)) (*archive, error) {
	a := &archive{target: target, step: step}
	if isTar(target) {
		if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
			return nil, taken(target)
		}
		out, err := os.OpenFile(target+partial, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // The operator's.
		if errors.Is(err, fs.ErrExist) {
			return nil, taken(target + partial)
		}
		if err != nil {
			return nil, unwritable(target, err)
		}
		a.file, a.tar = out, tar.NewWriter(out)
		return a, nil
	}
	if err := os.MkdirAll(target, 0o700); err != nil {
		return nil, unwritable(target, err)
	}
	entries, err := os.ReadDir(target)
	if err != nil {
		return nil, unwritable(target, err)
	}
	if len(entries) > 0 {
		return nil, taken(target)
	}
	return a, nil
}

func taken(name string) error {
	return &tool.Error{
		Kind: tool.Conflict, Op: "offboard", Msg: name + " exists already: name a new file or an empty folder",
	}
}

func unwritable(name string, err error) error {
	msg := fmt.Sprintf("%s cannot be written: %v", name, err)
	return &tool.Error{Kind: tool.Invalid, Op: "offboard", Err: err, Msg: msg}
}

// Left implements [store.TenantArchive].
func (a *archive) Left(what, why string) { a.left = append(a.left, Left{what, why}) }

// Create implements [store.TenantArchive].
func (a *archive) Create(name string) (io.WriteCloser, error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "offboard", Msg: fmt.Sprintf("%q names no file of an export", name)}
	}
	a.step(name)
	out := &entry{archive: a, file: File{Path: name}, sum: sha256.New(), lines: isLines(name)}
	var err error
	if a.tar != nil { // The size stands before the content.
		out.to, err = os.CreateTemp(filepath.Dir(a.target), ".toolcrib-export-*")
	} else {
		to := filepath.Join(a.target, filepath.FromSlash(name))
		if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
			out.to, err = os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // The operator's.
		}
	}
	if err != nil {
		return nil, unwritable(name, err)
	}
	return out, nil
}

// isLines reports whether a file has a row on each line.
func isLines(name string) bool {
	return strings.HasSuffix(name, ".ndjson") || strings.HasSuffix(name, ".jsonl")
}

// entry is a file that is being written.
type entry struct {
	archive *archive
	file    File
	sum     hash.Hash
	lines   bool
	to      *os.File
}

// Write implements [io.Writer].
func (e *entry) Write(p []byte) (int, error) {
	n, err := e.to.Write(p)
	e.sum.Write(p[:n])
	e.file.Bytes += int64(n)
	if e.lines {
		e.file.Rows += int64(bytes.Count(p[:n], []byte("\n")))
	}
	return n, err
}

// Close implements [io.Closer].
func (e *entry) Close() error {
	e.file.SHA256 = hex.EncodeToString(e.sum.Sum(nil))
	err := e.archive.keep(e)
	if closeErr := e.to.Close(); err == nil {
		err = closeErr
	}
	if e.archive.tar != nil {
		_ = os.Remove(e.to.Name()) // It is in the tar file.
	}
	if err != nil {
		return unwritable(e.file.Path, err)
	}
	e.archive.files = append(e.archive.files, e.file)
	return nil
}

// keep moves a file into the tar file.
func (a *archive) keep(e *entry) error {
	if a.tar == nil {
		return nil
	}
	if _, err := e.to.Seek(0, io.SeekStart); err != nil {
		return err
	}
	err := a.tar.WriteHeader(&tar.Header{
		Typeflag: tar.TypeReg, Name: e.file.Path, Size: e.file.Bytes, Mode: 0o600, ModTime: time.Now().Truncate(time.Second),
	})
	if err != nil {
		return err
	}
	_, err = io.Copy(a.tar, e.to)
	return err
}

// finish writes the manifest, and gives a tar file its name.
func (a *archive) finish(m *Manifest) error {
	m.Files, m.Left = a.files, a.left
	raw, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the manifest: %w", err)
	}
	out, err := a.Create(manifestName)
	if err != nil {
		return err
	}
	if _, err := out.Write(append(raw, '\n')); err != nil {
		return errors.Join(unwritable(manifestName, err), out.Close())
	}
	if err := out.Close(); err != nil || a.tar == nil {
		return err
	}
	for _, last := range []func() error{
		a.tar.Close, a.file.Sync, a.file.Close, func() error { return os.Rename(a.target+partial, a.target) },
	} {
		if err := last(); err != nil {
			return unwritable(a.target, err)
		}
	}
	return nil
}

// abandon removes a tar file that is not whole. A folder stays: it has no manifest.
func (a *archive) abandon() {
	if a.tar != nil {
		_ = a.file.Close()
		_ = os.Remove(a.target + partial)
	}
}
