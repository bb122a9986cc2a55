package console

// Of a build that is not in the binary.
var NewHandler = newHandler
