// Package vault encrypts and opens the credentials of tenants.
//
// A credential is encrypted by a data key of its tenant, which is itself wrapped by a
// key-encryption key of the process ([Keyring]) that the database never sees. A reader of the
// database cannot decrypt credentials; a row that is moved to another tenant, another
// credential or other hosts does not decrypt, because all of these are associated data of the
// ciphertext.
//
// Three things are rotated independently, each without downtime: the value of a credential
// ([Vault.Change]), the data key of a tenant ([Vault.RotateDataKey]), and the key-encryption
// key ([Vault.Rewrap]).
//
// [Vault] is a secret.Resolver and a secret.Finder. It reads the database at each call and
// caches no credential, so that a revoked one is refused at the next call.
package vault
