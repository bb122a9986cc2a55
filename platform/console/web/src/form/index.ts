// Forms of the fields that the server reads out of schemas, and views of what tools answer.
export { AdditionalInputs } from "./additional";
export { bootstrapFieldRegistry } from "./bootstrap";
export { FieldsEditor, FieldDefinitionEditor } from "./editor";
export { FieldDefinitionForm, FormView, InputForm, start } from "./form";
export { ImageDropzoneUploader } from "./files";
export { Output, Generic, type Part, type Result } from "./output";
export { EntityPicker } from "./pickers";
export { register, registered } from "./registry";
export { FieldDefinitionDisplay } from "./show";
export type { Field, FormSpec, Section } from "./spec";
export type { Mode, Problems } from "./store";
