package programs

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

// InstallCommand returns the command that installs PostgreSQL on the system that
// is searched.
func (s Search) InstallCommand() string {
	for _, system := range s.System {
		switch system {
		case "debian", "ubuntu":
			return "sudo apt-get update && sudo apt-get install -y postgresql"
		case "fedora", "rhel", "centos":
			return "sudo dnf install -y postgresql-server"
		case "alpine":
			return "sudo apk add postgresql"
		case "arch", "archlinux":
			return "sudo pacman -S --noconfirm postgresql"
		case "opensuse", "suse":
			return "sudo zypper install -y postgresql-server"
		case "darwin":
			return "brew install postgresql@17"
		}
	}
	return "your system's package manager, package postgresql or postgresql-server"
}

// StartCommand returns the command that starts the PostgreSQL that the system's
// packages installed.
func (s Search) StartCommand() string {
	for _, system := range s.System {
		switch system {
		case "alpine":
			return "sudo rc-service postgresql start"
		case "darwin":
			return "brew services start postgresql@17"
		case "debian", "ubuntu":
			return "sudo service postgresql start"
		}
	}
	return "sudo systemctl start postgresql"
}
