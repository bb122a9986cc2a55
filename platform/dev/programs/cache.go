package programs

import (
	"fmt"
	"os"
	"path/filepath"
)

// rootCache is where root keeps what was downloaded: root's own cache is where
// the user that runs PostgreSQL for root cannot read it.
const rootCache = "/var/cache"

// CacheFolder returns the folder that downloaded programs are kept in.
func CacheFolder() (string, error) {
	if os.Geteuid() == 0 {
		return filepath.Join(rootCache, "toolcrib", "postgres"), nil
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("locating the cache folder: %w", err)
	}
	return filepath.Join(cache, "toolcrib", "postgres"), nil
}
