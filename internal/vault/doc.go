// Package vault keeps the credentials of tenants encrypted, and opens them.
//
// A credential is encrypted by a data key of its tenant, which is itself
// wrapped by a key-encryption key: one that the process is given ([Keyring])
// and the database never sees. A reader of the database can't read credentials;
// a row that is moved to another tenant, another credential or other hosts does
// not decrypt, because all of these are bound to the ciphertext.
//
// Three things are rotated independently, each while calls go on: the value of
// a credential ([Vault.Change]), the data key of a tenant
// ([Vault.RotateDataKey]), and the key-encryption key ([Vault.Rewrap]).
//
// [Vault] is a secret.Resolver and a secret.Finder. It reads the database at
// each call and caches no credential, so that one that was revoked is refused
// at the next call.
package vault
