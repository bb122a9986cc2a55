package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Shared is the folder of the secrets of all tenants.
const Shared = "_shared"

// maxFileBytes bounds a secret's file.
const maxFileBytes = 64 << 10

// Files opens secrets from a directory, as mounted by orchestrators: the secret "orders-api"
// of a tenant is the file <tenant>/orders-api, or _shared/orders-api for all tenants, without
// its last line break. The file orders-api.hosts lists the hosts it may be sent to, one a
// line or separated by commas. Files are read at each call, so that a rotated secret is used
// at once. Names and symbolic links cannot leave the directory.
type Files struct {
	root *os.Root
}

// OpenFiles returns a resolver over a directory. The caller closes it.
func OpenFiles(dir string) (*Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("opening secrets directory: %w", err)
	}
	return &Files{root: root}, nil
}

// Close releases the directory.
func (f *Files) Close() error { return f.root.Close() }

// Resolve implements [Resolver].
func (f *Files) Resolve(_ context.Context, tenant tool.TenantID, ref string) (Value, error) {
	if err := checkNames(tenant, ref); err != nil {
		return Value{}, err
	}
	if strings.HasSuffix(ref, ".hosts") {
		return Value{}, notFound(ref)
	}
	folders := []string{Shared}
	if tenant != "" {
		folders = []string{string(tenant), Shared}
	}
	for _, folder := range folders {
		text, err := f.read(folder + "/" + ref)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Value{}, unreadable(ref, err)
		}
		hosts, err := f.read(folder + "/" + ref + ".hosts")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Value{}, unreadable(ref, err)
		}
		return NewValue(text, strings.FieldsFunc(hosts, func(r rune) bool {
			return r == ',' || r == '\n' || r == '\r'
		})...), nil
	}
	return Value{}, notFound(ref)
}

func (f *Files) read(name string) (string, error) {
	file, err := f.root.Open(name)
	if err != nil {
		return "", fmt.Errorf("opening secret: %w", err)
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return "", fmt.Errorf("reading secret: %w", err)
	}
	if len(raw) > maxFileBytes {
		return "", fmt.Errorf("reading secret: more than %d bytes", maxFileBytes)
	}
	raw = bytes.TrimSuffix(raw, []byte("\n"))
	return string(bytes.TrimSuffix(raw, []byte("\r"))), nil
}

func unreadable(ref string, cause error) error {
	return &tool.Error{
		Kind: tool.Unavailable, Op: "secret.Resolve", Msg: fmt.Sprintf("credential %q can't be read", ref), Err: cause,
	}
}
