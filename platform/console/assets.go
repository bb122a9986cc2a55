package console

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"path"
)

// assetsPath is where the files of builds are, below the hash of each.
const assetsPath = "/_a/"

// asset is a file of the build, and what gzip makes of it, where that is smaller.
type asset struct {
	media       string
	raw, packed []byte
}

// medias are the media types of the files of a build. A file of another type is not served.
var medias = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// readAssets returns the files of the build by their paths.
func readAssets(dist fs.FS, hash string) (map[string]asset, error) {
	assets := map[string]asset{}
	err := fs.WalkDir(dist, ".", func(name string, entry fs.DirEntry, err error) error {
		media, served := medias[path.Ext(name)]
		if err != nil || entry.IsDir() || !served {
			return err
		}
		raw, err := fs.ReadFile(dist, name)
		if err != nil {
			return fmt.Errorf("reading %s: %w", name, err)
		}
		a := asset{media: media, raw: raw}
		if packed, err := pack(raw); err == nil && len(packed) < len(raw) {
			a.packed = packed
		}
		assets[assetsPath+hash+"/"+name] = a
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return assets, nil
}

func pack(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	if _, err := w.Write(raw); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("packing: %w", err)
	}
	return out.Bytes(), nil
}
