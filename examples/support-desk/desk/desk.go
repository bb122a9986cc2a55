package desk

import (
	"fmt"

	"github.com/toolcrib/toolcrib/executors/function"
)

// Names of the functions, as tools name them.
const (
	CheckRefund      = "checkRefund"
	QuoteReplacement = "quoteReplacement"
	WriteNote        = "writeNote"
)

// Define registers the desk's functions. Notes are written to book.
func Define(reg *function.Registry, book *Notebook) error {
	if err := function.Define(reg, CheckRefund,
		"Decides by the shop's rules whether an item may be refunded, and how much of its price.",
		checkRefund, function.Pure()); err != nil {
		return fmt.Errorf("defining the desk's functions: %w", err)
	}
	if err := function.Define(reg, QuoteReplacement,
		"Computes what a replacement costs the customer, in cents.",
		quoteReplacement, function.Pure()); err != nil {
		return fmt.Errorf("defining the desk's functions: %w", err)
	}
	if err := function.Define(reg, WriteNote,
		"Leaves a note to the people behind the desk, who read it the same day.",
		book.write); err != nil {
		return fmt.Errorf("defining the desk's functions: %w", err)
	}
	return nil
}
