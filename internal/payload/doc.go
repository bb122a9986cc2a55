// Package payload encrypts what goes through Temporal: arguments, results, memos, summaries and the
// texts of failures.
//
// [Configure] puts a [Codec] around the data converter of a client, and makes its failure converter
// encode messages and stack traces. Each payload is encrypted by a key of its tenant, which is
// derived from a payload key of the process ([Keyring]) and from the tenant in the workflow's id:
// no key is stored, and encrypting or decrypting one needs no I/O, so that both may happen in
// workflow tasks. What Toolcrib did not encrypt, it leaves as it is.
//
// An encrypted payload names its key and its tenant in its metadata, which are authenticated and
// suffice to decrypt it. The first key of a keyring encrypts, all of them decrypt: a new key is put
// after the old one everywhere, then before it, and the old one goes when no history needs it.
//
// What cannot be decrypted never decides how a workflow ends: the workflow task fails, and is tried
// again until a worker with the key takes it.
package payload
