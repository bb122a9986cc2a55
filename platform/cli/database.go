package cli

import (
	"cmp"
	"log/slog"

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
		return "", Usagef("this command needs a database: give --database-url or set %s; toolcrib dev needs none",
			DatabaseVariable)
	}
	return url, nil
}

// Logger returns the log of a command that is no server: warnings only.
func (a *App) Logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(a.Env.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
