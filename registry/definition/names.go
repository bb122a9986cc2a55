package definition

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/strict"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkNames fails for a member of o that is no field of the struct, and does the
// same for nested structs.
func checkNames(path string, o object, to any) error {
	fields := fieldsOf(reflect.TypeOf(to).Elem())
	for _, name := range slices.Sorted(maps.Keys(o)) {
		field, known := fields[name]
		if !known {
			return unknownField(path, name, slices.Sorted(maps.Keys(fields)))
		}
		if field.Kind() != reflect.Struct {
			continue
		}
		inner, err := readObject(path+"/"+name, o[name])
		if err != nil {
			return err
		}
		if err := checkNames(path+"/"+name, inner, reflect.New(field).Interface()); err != nil {
			return err
		}
	}
	return nil
}

// fieldsOf lists the JSON names of a struct with their types, those of embedded
// structs included.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := make(map[string]reflect.Type)
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			maps.Copy(fields, fieldsOf(f.Type))
		case name != "" && name != "-":
			fields[name] = f.Type
		}
	}
	return fields
}

func unknownField(path, name string, known []string) error {
	at := path + "/" + name
	return refusal.New(tool.Invalid, at, "%s", strict.Unknown(name, known))
}
