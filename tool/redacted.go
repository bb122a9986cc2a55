package tool

// Redacted is shown in place of a secret.
const Redacted = "[redacted]"
