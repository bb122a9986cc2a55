package programs

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/ulikunitz/xz"
)

// unpack extracts the programs from an artifact: a zip archive with one tar
// archive in it, compressed by xz. The archive is untrusted: nothing is written
// outside dir, and nothing but folders, files, and links within it.
func unpack(ctx context.Context, artifact, dir string, most limits) error {
	outer, err := zip.OpenReader(artifact)
	if err != nil {
		return fmt.Errorf("opening the artifact: %w", err)
	}
	defer outer.Close()
	var inner *zip.File
	for _, f := range outer.File {
		if strings.HasSuffix(f.Name, ".txz") {
			if inner != nil {
				return errors.New("it holds more than one archive of programs")
			}
			inner = f
		}
	}
	if inner == nil {
		return errors.New("it holds no archive of programs")
	}
	compressed, err := inner.Open()
	if err != nil {
		return fmt.Errorf("opening %s: %w", inner.Name, err)
	}
	defer compressed.Close()
	plain, err := xz.NewReader(io.LimitReader(compressed, most.artifact))
	if err != nil {
		return fmt.Errorf("opening %s: %w", inner.Name, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("opening the folder for the programs: %w", err)
	}
	defer root.Close()
	u := &unpacking{root: root, files: most.files, left: most.unpacked}
	return u.all(ctx, tar.NewReader(plain))
}

// unpacking puts a tar archive into a folder.
type unpacking struct {
	root  *os.Root
	files int   // How many entries may come.
	left  int64 // How many bytes may come.
}

func (u *unpacking) all(ctx context.Context, archive *tar.Reader) error {
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the archive: %w", err)
		}
		if u.files--; u.files < 0 {
			return errors.New("it holds too many files")
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := u.entry(header, archive); err != nil {
			return fmt.Errorf("%q: %w", header.Name, err)
		}
	}
}

var errOutside = errors.New("it leads out of the archive")

func (u *unpacking) entry(header *tar.Header, content io.Reader) error {
	name := path.Clean(header.Name)
	if !filepath.IsLocal(name) {
		return errOutside
	}
	if err := u.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch header.Typeflag {
	case tar.TypeDir:
		return u.root.MkdirAll(name, 0o755)
	case tar.TypeReg:
		return u.file(name, header, content)
	case tar.TypeSymlink:
		//nolint:gosec // This is the check.
		if path.IsAbs(header.Linkname) || !filepath.IsLocal(path.Join(path.Dir(name), header.Linkname)) {
			return errOutside
		}
		return u.root.Symlink(header.Linkname, name)
	case tar.TypeLink:
		if !filepath.IsLocal(header.Linkname) {
			return errOutside
		}
		return u.root.Link(header.Linkname, name)
	default:
		return fmt.Errorf("an entry of type %q is neither folder, file nor link", header.Typeflag)
	}
}

// file writes one new file. It never writes to an existing one.
func (u *unpacking) file(name string, header *tar.Header, content io.Reader) (err error) {
	if u.left -= header.Size; u.left < 0 {
		return errors.New("the programs are too large")
	}
	mode := os.FileMode(0o644)
	if header.Mode&0o111 != 0 {
		mode = 0o755
	}
	file, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := io.CopyN(file, content, header.Size); err != nil {
		return err
	}
	return file.Chmod(mode) // Whatever the umask: another user runs them.
}
