package cli

import "github.com/spf13/cobra"

// What tests of the whole command line use, which import packages that import
// this one.
var (
	SeparateQuery = separateQuery
	VariableOf    = variableOf
)

// Root returns the tree of commands.
func Root(env Env, extensions ...Extension) *cobra.Command {
	return (&App{Env: env}).root(extensions...)
}
