// Package publicresult draws what a tool answered on pages without a login, by the output sections of its definition:
// as tables, and as pictures that HTML alone holds. It needs no script. All of a result is text of others: it is
// cleaned, bounded and escaped, and what does not fit the type of its section is shown as any value is.
package publicresult
