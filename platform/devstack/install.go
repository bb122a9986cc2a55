package devstack

import (
	"os"
	"runtime"
	"strings"
)

// systemNames returns what the operating system calls itself and what it is
// like, most exact first.
func systemNames() []string {
	raw, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return []string{runtime.GOOS}
	}
	return namesIn(string(raw))
}

// namesIn returns the ID and ID_LIKE of an os-release file.
func namesIn(release string) []string {
	var exact, alike []string
	for line := range strings.Lines(release) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		names := strings.Fields(strings.Trim(value, `"'`))
		switch key {
		case "ID":
			exact = names
		case "ID_LIKE":
			alike = names
		}
	}
	return append(exact, alike...)
}

// installCommand returns the command that installs PostgreSQL on the first of
// the systems that it knows.
func installCommand(systems []string) string {
	for _, system := range systems {
		switch system {
		case "debian", "ubuntu":
			return "sudo apt-get update && sudo apt-get install -y postgresql"
		case "fedora", "rhel", "centos":
			return "sudo dnf install -y postgresql-server"
		case "alpine":
			return "sudo apk add postgresql"
		case "arch":
			return "sudo pacman -S --noconfirm postgresql"
		case "opensuse", "suse":
			return "sudo zypper install -y postgresql-server"
		case "darwin":
			return "brew install postgresql@17"
		}
	}
	return "your system's package manager, package postgresql or postgresql-server"
}
