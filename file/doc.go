// Package file holds the files of a tenant: what people and programs upload, and what people draw
// on images. A file belongs to a tenant, and usually to a run, whose artifact it is.
//
// What a file is, is decided by its content, never by its name or by what was said of it: see
// [Detect]. Its record is in PostgreSQL ([Store]); its content is in one of several places
// ([Contents]), which the operator chooses. [Service] is what servers use.
package file
