package commands

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/audit"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) auditCommand() *cobra.Command {
	return cli.Describe(cli.Group("audit", "Who changed what: list, verify and export the audit log", a.auditListCommand(),
		a.auditShowCommand(), a.auditVerifyCommand(), a.auditExportCommand(), a.auditActionsCommand()),
		`Every change of tools, agents, keys, credentials, grants and the like leaves a row, in
the transaction that makes it, as do changes that were refused. Rows are chained by
their hashes, so that a row that is changed or removed later is found. A tenant has a log
of its own; --platform reads that of what operators changed for all tenants.`,
		`  toolcrib audit list --action tool.published --since 24h
  toolcrib audit verify
  toolcrib audit list --platform --database-url postgres://owner@db/toolcrib`)
}

func (a *app) auditListCommand() *cobra.Command {
	var q client.AuditQuery
	var since, until string
	var of auditScope
	var p paging
	cmd := cli.Describe(&cobra.Command{
		Use: "list", Short: "List what was changed, or refused, newest first", Args: cli.Operands(),
		RunE: of.run(a, func(cmd *cobra.Command, log auditSource, _ []string) error {
			if err := period(since, until, &q.Since, &q.Until); err != nil {
				return err
			}
			return showList(a, cmd, p, listing[v1.AuditEntry]{
				header: "ENTRY WHEN ACTOR~ ACTION OBJECT~ OUTCOME",
				row: func(e v1.AuditEntry) []string {
					return []string{e.ID, terminal.Since(e.At), e.Actor.Subject, e.Action, objectOf(e), e.Outcome}
				},
				empty: "nothing was changed yet",
			}, func(page client.Page) (v1.Page[v1.AuditEntry], error) {
				q.Page = page
				return log.ListAudit(cmd.Context(), q)
			})
		}),
	}, `Lists the rows, newest first, as far as the filters let them through.`,
		`  toolcrib audit list --object getOrder
  toolcrib audit list --action key --outcome refused --since 24h`)
	p.register(cmd)
	cmd.Flags().StringVar(&q.Actor, "actor", "", "subject, such as key:01975c2e-7d1a-7c3e-9f00-0000000000d1")
	cmd.Flags().StringVar(&q.Action, "action", "", "an action, or a kind of object: toolcrib audit actions")
	cmd.Flags().StringVar(&q.Object, "object", "", "id or name of what was changed")
	cmd.Flags().StringVar((*string)(&q.Outcome), "outcome", "", "done or refused")
	periodFlags(cmd, &since, &until)
	of.register(cmd)
	return cmd
}

func objectOf(e v1.AuditEntry) string {
	if e.Object.Name != "" {
		return e.Object.Name
	}
	return e.Object.ID
}

// actionWords lists the kinds of objects and the actions, for completion.
func actionWords() string {
	words := audit.ObjectKinds()
	for _, known := range audit.Actions() {
		words = append(words, string(known.Action))
	}
	return strings.Join(words, " ")
}

func (a *app) auditShowCommand() *cobra.Command {
	var of auditScope
	cmd := cli.Describe(&cobra.Command{
		Use: "show ENTRY", Short: "Show a row, with what was there before and after", Args: cli.Operands("entry"),
		RunE: of.run(a, func(cmd *cobra.Command, log auditSource, args []string) error {
			e, err := log.Audit(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(e, func(w io.Writer) error {
				rows := [][2]string{
					{"action", e.Action},
					{"outcome", e.Outcome},
					{"reason", e.Reason},
					{"object", strings.TrimSpace(e.Object.Name + " " + e.Object.ID)},
					{"at", e.At.Format(time.RFC3339Nano)},
					{"actor", e.Actor.Subject + " (" + e.Actor.Kind + ")"},
					{"request", e.RequestID},
					{"before", string(e.Before)},
					{"after", string(e.After)},
					{"hash", e.Hash},
				}
				for _, row := range rows {
					if row[1] == "" {
						continue
					}
					if _, err := fmt.Fprintf(w, "%-8s %s\n", row[0], terminal.Clean(row[1])); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}, `Shows one row. Of what was changed it has the columns that differ, of what was made or
deleted all of them; secrets are not shown.`,
		`  toolcrib audit show 01987a3c-0000-7000-8000-000000000001`)
	of.register(cmd)
	return cmd
}

func (a *app) auditVerifyCommand() *cobra.Command {
	var from, file string
	var of auditScope
	cmd := cli.Describe(&cobra.Command{
		Use: "verify", Short: "Verify that no row was changed or removed", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			head, err := headOf(from)
			if err != nil {
				return err
			}
			if file != "" {
				report, err := verifyFile(cmd.InOrStdin(), file, head)
				if err != nil {
					return err
				}
				return a.showAuditReport(report)
			}
			return of.with(cmd.Context(), a, func(log auditSource) error {
				report, err := log.VerifyAudit(cmd.Context(), head)
				if err != nil {
					return err
				}
				return a.showAuditReport(report)
			})
		},
	}, `Computes the hash of every row and compares the end of the chain with its recorded
head. It prints the head: keep it elsewhere, and verify --from it later, to see that
the chain is still the same. Rows of the last second are not part of the chain yet;
their number is printed. A broken chain ends with exit code 5. With --file the rows
of an export are verified, without a server.`,
		`  toolcrib audit verify
  toolcrib audit verify --from 1204:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  toolcrib audit verify --file audit.jsonl`)
	cmd.Flags().StringVar(&from, "from", "", "number and hash of a row that was verified before, as NUMBER:HASH")
	cmd.Flags().StringVar(&file, "file", "", "an export to verify, or - for the standard input")
	of.register(cmd)
	return cmd
}

// headOf reads a head as verify prints it.
func headOf(text string) (audit.Head, error) {
	if text == "" {
		return audit.Head{}, nil
	}
	number, hash, _ := strings.Cut(text, ":")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil || seq < 1 || len(hash) != 64 || strings.Trim(hash, "0123456789abcdef") != "" {
		return audit.Head{}, cli.Usagef("--from %q: expected NUMBER:HASH, as verify prints it", text)
	}
	return audit.Head{Seq: seq, Hash: hash}, nil
}

// verifyFile verifies an export, which begins behind head.
func verifyFile(stdin io.Reader, name string, head audit.Head) (v1.AuditReport, error) {
	in := stdin
	if name != "-" {
		opened, err := os.Open(name) //nolint:gosec // The user names it.
		if err != nil {
			return v1.AuditReport{}, &tool.Error{
				Kind: tool.NotFound, Op: "audit", Msg: fmt.Sprintf("the export %s cannot be read: %v", name, err), Err: err,
			}
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	v := audit.Verifier{Head: head}
	dec := json.NewDecoder(bufio.NewReader(in))
	for dec.More() {
		var row v1.AuditRecord
		if err := dec.Decode(&row); err != nil {
			return v1.AuditReport{}, &tool.Error{
				Kind: tool.Invalid, Op: "audit", Err: err,
				Msg: fmt.Sprintf("%s: what follows row %d is no row of an export", name, v.Head.Seq),
			}
		}
		if broken := v.Next(row.Entry()); broken != nil {
			return v1.FromAuditReport(audit.Report{Verified: v.Head, Complete: true, Broken: broken}), nil
		}
	}
	return v1.FromAuditReport(audit.Report{Verified: v.Head, Complete: true}), nil
}

func (a *app) showAuditReport(report v1.AuditReport) error {
	err := a.Printer.Show(report, func(w io.Writer) error {
		if report.Broken != nil {
			return nil
		}
		line := "the chain is whole: it has no rows yet"
		if report.Seq > 0 {
			line = fmt.Sprintf("the chain is whole up to %d:%s", report.Seq, report.Hash)
		}
		if report.Unsealed > 0 && report.Oldest != nil {
			line += fmt.Sprintf("\nnot part of it yet: %d rows, the oldest of %s", report.Unsealed,
				terminal.Since(*report.Oldest))
		}
		_, err := fmt.Fprintln(w, line)
		return err
	})
	if err != nil || report.Broken == nil {
		return err
	}
	row := report.Broken.ID
	if row != "" {
		row = " (" + row + ")"
	}
	return &tool.Error{
		Kind: tool.Conflict, Op: "audit",
		Msg: fmt.Sprintf("the chain is broken at row %d%s: %s", report.Broken.Seq, row, report.Broken.Reason),
	}
}

func (a *app) auditExportCommand() *cobra.Command {
	var asCSV bool
	var after int64
	var of auditScope
	cmd := cli.Describe(&cobra.Command{
		Use: "export", Short: "Print every sealed row, in the order of the chain", Args: cli.Operands(),
		RunE: of.run(a, func(cmd *cobra.Command, log auditSource, _ []string) error {
			out := bufio.NewWriter(cmd.OutOrStdout())
			write := writeRecord(json.NewEncoder(out))
			if asCSV {
				table := csv.NewWriter(out)
				if err := table.Write(auditColumns); err != nil {
					return err
				}
				write = func(r v1.AuditRecord) error {
					err := table.Write(cells(r))
					table.Flush()
					return err
				}
			}
			if err := log.ExportAudit(cmd.Context(), after, write); err != nil {
				return err
			}
			return out.Flush()
		}),
	}, `Prints a row on each line as JSON, with all that its hash is made of, so that
"toolcrib audit verify --file" verifies it anywhere; or as CSV, for people. The last
row's number and hash are the head from which a later export, or verify, goes on.`,
		`  toolcrib audit export > audit.jsonl
  toolcrib audit export --after 1204 >> audit.jsonl
  toolcrib audit export --csv > audit.csv`)
	cmd.Flags().BoolVar(&asCSV, "csv", false, "print CSV")
	cmd.Flags().Int64Var(&after, "after", 0, "number of the row behind which to begin")
	of.register(cmd)
	return cmd
}

func writeRecord(enc *json.Encoder) func(v1.AuditRecord) error {
	enc.SetEscapeHTML(false)
	return func(r v1.AuditRecord) error { return enc.Encode(r) }
}

var auditColumns = strings.Fields(`seq at actor_kind actor action object_kind object_id object_name outcome reason
	request_id before after hash`)

func cells(r v1.AuditRecord) []string {
	all := []string{
		strconv.FormatInt(r.Seq, 10), r.At.Format(time.RFC3339Nano), r.Actor.Kind, r.Actor.Subject, r.Action, r.Object.Kind,
		r.Object.ID, r.Object.Name, r.Outcome, r.Reason, r.RequestID, r.BeforeText, r.AfterText, r.Hash,
	}
	for i, cell := range all { // Spreadsheets run what begins like a formula.
		if cell != "" && strings.Contains("=+-@\t\r", cell[:1]) {
			all[i] = "'" + cell
		}
	}
	return all
}

func (a *app) auditActionsCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "actions", Short: "List the actions that the log has", Args: cli.Operands(),
		RunE: func(*cobra.Command, []string) error {
			actions := audit.Actions()
			return a.Printer.Show(actions, func(w io.Writer) error {
				rows := each(actions, func(i audit.ActionInfo) []string { return []string{string(i.Action), i.Meaning} })
				return terminal.Table(w, "ACTION MEANING~", rows)
			})
		},
	}, `Lists every action, with what it means. A kind of object alone selects all of its
actions in "toolcrib audit list --action".`, `  toolcrib audit actions`)
}
