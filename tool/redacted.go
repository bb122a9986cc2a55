package tool

// Redacted is what is shown in the place of a secret.
const Redacted = "[redacted]"
