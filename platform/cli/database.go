package cli

import (
	"cmp"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"
)

// DatabaseFlag adds the flag that names the database.
func DatabaseFlag(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "database-url", "", "URL of the database ("+DatabaseVariable+")")
}

// DatabaseURL returns the database the user means.
func (a *App) DatabaseURL(flag string) (string, error) {
	url := cmp.Or(flag, a.Env.Getenv(DatabaseVariable))
	if url == "" {
		err := Usagef("this command needs a database: give --database-url or set %s; toolcrib dev needs none",
			DatabaseVariable)
		if file := a.devDatabaseFile(); file != "" {
			return "", WithHint(err, fmt.Sprintf("For that of toolcrib dev: --database-url \"$(cat %s)\"", file))
		}
		return "", err
	}
	return url, nil
}

// devDatabaseFile returns the file in which the toolcrib dev that runs here keeps the URL of its database, if it does.
func (a *App) devDatabaseFile() string {
	folders := a.dataFolders()
	if dir := cmp.Or(a.flags.data, a.Env.Getenv(DataVariable)); dir != "" {
		folders = []string{dir}
	}
	for _, dir := range folders {
		file := filepath.Join(dir, "database-url")
		if devSource(dir, "").server.value != "" && line(file) != "" {
			return file
		}
	}
	return ""
}

// Logger returns the log of a command that is no server: warnings only.
func (a *App) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Env.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
