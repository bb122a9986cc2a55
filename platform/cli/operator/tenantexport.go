package operator

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/offboard"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) tenantExportCommand() *cobra.Command {
	var flags leaveFlags
	var to string
	var histories bool
	cmd := cli.Describe(&cobra.Command{
		Use: "export TENANT", Short: "Write all that a tenant has to files", Args: cli.Operands("tenant"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return cli.Usagef("say where the export is written: --to acme-export, a new folder, or --to acme.tar")
			}
			cfg, closeAll, err := a.openOffboard(cmd.Context(), &flags, histories)
			if err != nil {
				return err
			}
			defer closeAll()
			tenant, err := cfg.Store.FindTenant(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			step, done := a.Steps("exporting %s", tenant.Slug)
			cfg.Step = step
			m, err := offboard.Export(cmd.Context(), cfg, tenant.ID, to)
			done()
			if err != nil {
				return err
			}
			return a.Printer.Show(exportShape{to, m}, func(w io.Writer) error { return writeExport(w, to, m) })
		},
	}, `Writes all rows of a tenant as JSON, a file for each table with a row on each line;
its files, programs and documents; its audit log, which "toolcrib audit verify --file"
verifies too; and a manifest with the number of rows and the hash of each file, and
with what is left out and why. Secrets are left out: of credentials there are names and
hosts, of keys there are no hashes. With --histories there are the histories of its
workflows, decoded by the payload keys that are given.

Rows are of one snapshot of the database, which the export keeps open. The URL is that
of the database's owner; where files are in a store of objects, name its bucket.`,
		`  toolcrib tenant export acme --to acme.tar --database-url postgres://owner@db/toolcrib
  toolcrib tenant export acme --to acme-export --histories --payload-keys-file payload-keys
  toolcrib tenant export verify acme.tar`)
	cmd.Flags().StringVar(&to, "to", "", "a new folder, or a new file that ends in .tar")
	cmd.Flags().BoolVar(&histories, "histories", false, "write the histories of the tenant's workflows too")
	cli.PayloadKeysFlag(cmd, &flags.payloads)
	flags.register(cmd)
	cmd.AddCommand(a.tenantExportVerifyCommand())
	return cmd
}

// exportShape is what an export prints as JSON.
type exportShape struct {
	Path string `json:"path"`
	offboard.Manifest
}

func writeExport(w io.Writer, to string, m offboard.Manifest) error {
	var rows, bytes int64
	for _, f := range m.Files {
		rows, bytes = rows+f.Rows, bytes+f.Bytes
	}
	_, err := fmt.Fprintf(w, "exported %s to %s: %d files with %d rows, %d bytes\n", m.Slug, terminal.Clean(to),
		len(m.Files), rows, bytes)
	if err == nil && m.Histories != nil {
		_, err = fmt.Fprintf(w, "histories: %d workflows, %d had not ended, %d not decoded\n", m.Histories.Workflows,
			m.Histories.Open, m.Histories.Undecoded)
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "its manifest lists what is left out: %d; verify it with: toolcrib tenant export verify %s\n",
			len(m.Left), terminal.Clean(to))
	}
	return err
}

// verifyShape is what the verification of an export prints as JSON.
type verifyShape struct {
	Path    string        `json:"path"`
	Tenant  tool.TenantID `json:"tenant_id"`
	TakenAt time.Time     `json:"taken_at"`
	Files   int           `json:"files"`
	Audit   int64         `json:"audit_seq"`
	Faults  []string      `json:"faults"`
}

func (a *app) tenantExportVerifyCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "verify PATH", Short: "Compare an export with its manifest", Args: cli.Operands("path"),
		RunE: func(_ *cobra.Command, args []string) error {
			m, faults, err := offboard.Verify(args[0])
			if err != nil {
				return err
			}
			shape := verifyShape{args[0], m.Tenant, m.TakenAt, len(m.Files), m.Audit.Seq, append([]string{}, faults...)}
			err = a.Printer.Show(shape, func(w io.Writer) error {
				if len(faults) > 0 {
					_, err := fmt.Fprintln(w, terminal.Clean(strings.Join(faults, "\n")))
					return err
				}
				_, err := fmt.Fprintf(w, "%s is whole: %d files of %s, taken at %s; the audit log is whole up to row %d\n",
					terminal.Clean(args[0]), len(m.Files), terminal.Clean(m.Slug), m.TakenAt.Format(time.RFC3339), m.Audit.Seq)
				return err
			})
			if err == nil && len(faults) > 0 {
				return &tool.Error{
					Kind: tool.Conflict, Op: "tenant", Msg: fmt.Sprintf("%s is not as its manifest has it: %s", args[0], faults[0]),
				}
			}
			return err
		},
	}, `Reads a folder or a tar file, and compares the size, the rows and the hash of each file
with the manifest, and the audit log with its chain of hashes. It needs no database.
An export that is not whole ends with exit code 5.`, `  toolcrib tenant export verify acme.tar`)
}
