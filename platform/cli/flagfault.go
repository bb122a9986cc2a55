package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

// flagFault describes an invalid flag in plain words.
func flagFault(cmd *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		name, wanted := e.GetFlag().Name, valueOf(e.GetFlag())
		if wanted == "" {
			return fmt.Errorf("--%s %q: %w", name, e.GetValue(), errors.Unwrap(e))
		}
		return fmt.Errorf("--%s %q: expected %s", name, e.GetValue(), wanted)
	}
	if e, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value: see %s --help", e.GetFlag().Name, cmd.CommandPath())
	}
	e, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return err
	}
	hint := ": see " + cmd.CommandPath() + " --help"
	if name := e.GetSpecifiedName(); e.GetSpecifiedShortnames() == "" {
		if near := terminal.DidYouMean(name, flagNames(cmd)); near != "" {
			hint = strings.Replace(near, "mean ", "mean --", 1)
		}
	}
	if cmd.Annotations[QueryOperand] != "" {
		hint += `; a query that begins with a minus stands after --, as in -- "--dlq-type"`
	}
	return fmt.Errorf("%w%s", err, hint)
}

// valueOf says what a flag takes; nothing where its own error says so.
func valueOf(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "int", "int64", "int32":
		return "a whole number, such as 20"
	case "uint", "uint64":
		return "a whole number, 0 or more"
	case "float64":
		return "a number, such as 0.5"
	case "duration":
		return "a duration, such as 30s, 5m or 720h"
	case "bool":
		return "true or false"
	default:
		return ""
	}
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return names
}

// oneOf refuses flags that exclude each other.
func oneOf(cmd *cobra.Command) error {
	if cmd.ValidateFlagGroups() == nil {
		return nil
	}
	var given []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if _, ok := f.Annotations["cobra_annotation_mutually_exclusive"]; ok {
			given = append(given, "--"+f.Name)
		}
	})
	return Usagef("give one of %s", strings.Join(given, " and "))
}

// QueryOperand marks commands whose second operand may begin with a minus.
const QueryOperand = "query_operand"

// separateQuery moves a query that looks like a flag behind "--", if the command
// has no such flag, nor one with a similar name.
func separateQuery(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Annotations[QueryOperand] == "" {
		return args
	}
	at, operands := -1, 0
	for i := 0; i < len(rest); i++ {
		word := rest[i]
		switch f, takes := flagOf(cmd, word); {
		case word == "--":
			return args
		case word == "-" || !strings.HasPrefix(word, "-"):
			operands++
		case f != nil:
			if takes {
				i++
			}
		case at >= 0 || mistyped(cmd, word):
			return args
		default:
			at = i
		}
	}
	if at < 0 || operands != 1 {
		return args
	}
	return slices.Concat(strings.Fields(cmd.CommandPath())[1:], rest[:at], rest[at+1:], []string{"--", rest[at]})
}

// flagOf returns the flag that an argument of a command line sets, and whether
// the next argument is its value.
func flagOf(cmd *cobra.Command, word string) (f *pflag.Flag, takes bool) {
	name, _, valued := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	switch {
	case word == "-h" || word == "--help":
		return &pflag.Flag{}, false
	case strings.HasPrefix(word, "--"):
		if f = cmd.Flags().Lookup(name); f == nil {
			f = cmd.InheritedFlags().Lookup(name)
		}
	case len(word) == 2:
		f = cmd.Flags().ShorthandLookup(word[1:])
	}
	return f, f != nil && !valued && f.NoOptDefVal == ""
}

// mistyped reports whether a word is nearly the name of a flag.
func mistyped(cmd *cobra.Command, word string) bool {
	name, _, _ := strings.Cut(strings.TrimPrefix(word, "--"), "=")
	return strings.HasPrefix(word, "--") && terminal.DidYouMean(name, flagNames(cmd)) != ""
}
