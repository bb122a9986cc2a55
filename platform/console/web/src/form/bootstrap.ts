import { MediaInput, UploadInput } from "./files";
import { GroupInput, ListInput, MapInput } from "./groups";
import { AreaInput, BooleanInput, DateInput, EnumInput, LinkInput, NumberInput, RatingInput, SliderInput, TagsInput, TextInput } from "./inputs";
import { JsonInput, ObjectInput } from "./json";
import { RelationInput } from "./pickers";
import { register, setFallback } from "./registry";
import * as show from "./show";

let done = false;

// bootstrapFieldRegistry registers an input and a view for every type and display that the server knows.
export function bootstrapFieldRegistry(): void {
  if (done) return;
  done = true;
  setFallback(JsonInput, show.Data);
  register("text", "input", TextInput, show.Line);
  register("text", "textarea", AreaInput, show.Paragraph);
  register("text", "markdown", AreaInput, show.Paragraph);
  register("text", "code", AreaInput, show.Code);
  register("number", "input", NumberInput, show.Amount);
  register("number", "slider", SliderInput, show.Meter);
  register("number", "currency", NumberInput, show.Amount);
  register("number", "percent", NumberInput, show.Amount);
  register("number", "rating", RatingInput, show.Stars);
  register("boolean", "switch", BooleanInput, show.YesNo);
  register("boolean", "checkbox", BooleanInput, show.YesNo);
  register("date", "date", DateInput, show.Line);
  register("date", "datetime", DateInput, show.Moment);
  register("date", "time", DateInput, show.Line);
  for (const d of ["select", "radio", "chips"]) register("enum", d, EnumInput, show.Chosen);
  for (const t of ["url", "email", "phone"]) {
    register(t, "input", TextInput, show.Address);
    register(t, "link", LinkInput, show.Address);
  }
  for (const d of ["file", "image", "audio", "video"]) register("media", d, MediaInput, show.Address);
  for (const d of ["file", "image"]) register("file", d, UploadInput, show.Upload);
  for (const d of ["picker", "select"]) register("relation", d, RelationInput, show.Related);
  register("object", "group", GroupInput, show.Group);
  register("object", "map", MapInput, show.Data);
  register("object", "json", ObjectInput, show.Data);
  register("array", "list", ListInput, show.List);
  register("array", "table", ListInput, show.List);
  register("array", "tags", TagsInput, show.Chosen);
}
