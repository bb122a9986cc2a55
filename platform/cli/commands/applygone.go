package commands

import (
	"fmt"
	"io"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

// writeGone writes what a set of definitions no longer has, and what became of it.
func writeGone(w, errs io.Writer, gone []v1.GoneItem, dryRun bool) error {
	var rows [][]string
	left := 0
	for _, item := range gone {
		result := string(item.Action)
		switch {
		case item.Error != nil:
			if _, err := fmt.Fprintf(errs, "%s %s is no longer in the set, and stays: %s\n", item.Kind,
				terminal.Clean(item.Slug), terminal.Clean(item.Error.Detail)); err != nil {
				return err
			}
			continue
		case item.Action == v1.Left:
			left++
			result = "no longer in the set"
		case dryRun:
			result = "would be " + result
		}
		rows = append(rows, []string{item.Kind, item.Slug, result})
	}
	if len(rows) == 0 {
		return nil
	}
	if err := terminal.Table(w, "GONE SLUG RESULT", rows); err != nil {
		return err
	}
	if left == 0 {
		return nil
	}
	_, err := fmt.Fprintln(errs, "--prune takes away what is no longer in the set")
	return err
}

// worstOf is [worstCode] of what was applied, and else of what could not be taken away.
func worstOf(items []appliedFile, gone []v1.GoneItem) int {
	for _, item := range gone {
		if item.Error != nil && !anyFailed(items) {
			return cli.KindCode(item.Error.Code)
		}
	}
	return worstCode(items)
}

func anyFailed(items []appliedFile) bool {
	for _, item := range items {
		if item.Error != nil {
			return true
		}
	}
	return false
}
