// The suite asks for a function of the file system that Node has from version
// 22 on, and uses it in none of the commands run here.
import { register } from "node:module";

const shim = "data:text/javascript," + encodeURIComponent(
  'export * from "node:fs"; export const globSync = () => { throw new Error("globSync needs Node 22"); };',
);
const hooks = `export async function resolve(specifier, context, next) {
  if ((specifier === "fs" || specifier === "node:fs") && context.parentURL?.includes("/@modelcontextprotocol/conformance")) {
    return { url: ${JSON.stringify(shim)}, shortCircuit: true };
  }
  return next(specifier, context);
}`;
register("data:text/javascript," + encodeURIComponent(hooks));
