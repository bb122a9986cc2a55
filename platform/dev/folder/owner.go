package folder

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// LockFile is the file of a data folder that the process which uses the folder
// locks, and writes its number to.
const LockFile = "lock"

// Owner returns the number of the process that uses the data folder, or used it
// last; 0 where there is none. It changes nothing.
func Owner(dir string) int {
	file, err := os.Open(filepath.Join(dir, LockFile))
	if err != nil {
		return 0
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0
	}
	return pid
}
