package markdown

// Counted is Parse, with how many bytes were looked at.
var Counted = parse
