import { get, type Fields } from "./draft";

// What each implementation type asks for. The pointers are those of the definition.

export interface Part {
  at: string;
  label: string;
  help?: string;
  kind?: "text" | "area" | "choice" | "number" | "check" | "pairs" | "json";
  options?: readonly (readonly [value: string, name: string])[];
  names?: { path: string; member: string }; // Where values to choose from are listed.
  required?: boolean;
  mono?: boolean;
  keep?: boolean; // Emptied, the text stays there, empty.
  when?: (of: Fields) => boolean;
}

const root = "/implementation_config";
const config = (of: Fields, name: string) => get(of, root + "/" + name);
const c = (name: string) => root + "/" + name;

// auth is how requests authenticate, in the configuration or a part of it.
const auth = (within: string, ...ways: (readonly [string, string])[]): Part[] => {
  const at = (name: string) => within + "/auth/" + name;
  const type = (of: Fields) => String(get(of, at("type")) ?? "");
  return [
    { at: at("type"), label: "Authentication", kind: "choice", options: [["", "none"], ...ways] },
    { at: at("credentials_ref"), label: "Credential", help: "Its name. The secret itself stays where it is kept.",
      names: { path: "/v1/credentials", member: "ref" }, when: (of) => type(of) !== "", required: true, mono: true },
    { at: at("header"), label: "Header", required: true, mono: true, when: (of) => type(of) === "header" },
    { at: at("name"), label: "Name", help: "Of the parameter or cookie.", required: true, mono: true, when: (of) => ["query", "cookie"].includes(type(of)) },
    { at: at("token_url"), label: "Token address", required: true, mono: true, when: (of) => type(of) === "oauth2_client_credentials" },
  ];
};
const byHTTP = (within: string) => auth(within, ["bearer", "bearer token"], ["basic", "user and password"], ["header", "a header"], ["query", "a query parameter"],
  ["cookie", "a cookie"], ["oauth2_client_credentials", "OAuth client credentials"]);
const body = 'JSON in which {"from": "/argument"} is replaced. Left out, the arguments that have no other place are sent.';
const sends = (of: Fields) => !["GET", "HEAD", "OPTIONS"].includes(String(config(of, "method") ?? "GET"));

// An http tool may have several destinations. What each has stands in place of what the tool has.
export const destinationsAt = c("destinations");
export const destinationsOf = (of: Fields): Fields => {
  const all = get(of, destinationsAt + "/of");
  return all && typeof all === "object" && !Array.isArray(all) ? (all as Fields) : {};
};
const several = (of: Fields) => Object.keys(destinationsOf(of)).length > 0;
// single are parts of the tool that its destinations have instead, unless the tool has them too.
const single = (p: Part): Part => ({ ...p, when: (of) => (p.when?.(of) ?? true) && (!several(of) || get(of, p.at) !== undefined) });
export const destination = (of: Fields, name: string): Part[] => {
  const at = `${destinationsAt}/of/${name}`;
  return [
    { at: at + "/url", label: "Address", help: "Left empty, the tool's.", mono: true, keep: true, ...(config(of, "url") === undefined && { required: true, help: undefined }) },
    ...byHTTP(at),
    { at: at + "/body", label: "Body", kind: "json", help: body, when: sends },
  ];
};
export const destinationFrom: Part = {
  at: destinationsAt + "/from", label: "Argument that names the destination", help: "A pointer: /destination is the argument destination.", required: true, mono: true,
};
export const destinationParts = (of: Fields): Part[] =>
  several(of) ? [destinationFrom, ...Object.keys(destinationsOf(of)).flatMap((name) => destination(of, name))] : [];

const agent: Part = {
  at: c("target_agent_slug"), label: "Agent", help: "Its slug, with @ and a range of versions where you want one: orderClerk@^1.0.",
  names: { path: "/v1/agents", member: "slug" }, required: true, mono: true,
};
const template: Part = { at: c("prompt_template"), label: "Prompt", kind: "area", help: "{{argument}} is replaced by the argument of that name." };

export const parts: Record<string, Part[]> = {
  http: [
    { at: c("method"), label: "Method", kind: "choice", options: ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"].map((m) => [m, m] as const) },
    single({ at: c("url"), label: "Address", help: "{id} takes an argument that must be there, {?limit} one that may be left out.", required: true, mono: true }),
    { at: c("headers"), label: "Headers", kind: "pairs" },
    { at: c("query"), label: "Query parameters", kind: "pairs" },
    ...byHTTP(root).map(single),
    single({ at: c("body"), label: "Body", kind: "json", help: body, when: sends }),
  ],
  mcp: [
    { at: c("server"), label: "Attached server", help: "Instead of an address, where the server is attached.", names: { path: "/v1/mcp/servers", member: "slug" }, mono: true },
    { at: c("server_url"), label: "Address of the server", help: "For a server that is not attached.", mono: true, when: (of) => !config(of, "server") },
    { at: c("tool_name"), label: "Tool", help: "Its name at the server.", required: true, mono: true },
    ...auth(root, ["bearer", "bearer token"], ["basic", "user and password"], ["header", "a header"]).map((p) =>
      ({ ...p, when: (of: Fields) => !config(of, "server") && (p.when?.(of) ?? true) })),
  ],
  function: [{ at: c("function_name"), label: "Function", help: "The name under which a worker registers it.", required: true, mono: true }],
  artifact: [
    { at: "/artifact_id", label: "Artifact", help: "Slug of one that was uploaded. Without one, the program is written here.", names: { path: "/v1/artifacts", member: "slug" }, mono: true },
    { at: "/artifact_version", label: "Version of the artifact", help: "A version, or a range such as ^1.2.", mono: true, when: (of) => !!of.artifact_id },
    { at: c("language"), label: "Language", kind: "choice", required: true, options: [["", "choose"], ["javascript", "JavaScript"], ["jq", "jq"], ["wasm", "WebAssembly, in base64"]], when: (of) => !of.artifact_id },
    { at: c("source"), label: "Program", kind: "area", help: "JavaScript: a module whose default export is a function of the arguments.", required: true, mono: true, when: (of) => !of.artifact_id },
  ],
  rag_retrieval: [
    { at: c("pipeline_id"), label: "Pipeline", help: "Whose documents are searched.", names: { path: "/v1/pipelines", member: "slug" }, required: true, mono: true },
    { at: c("limit"), label: "Passages", kind: "number", help: "At most this many are found." },
  ],
  agent_call: [agent, template],
  task: [agent, template, { at: c("wait"), label: "Wait until the run ends", kind: "check" }],
  prompt: [
    { at: c("mode"), label: "Put to", kind: "choice", required: true, options: [["", "choose"], ["direct", "a model"], ["agent", "an agent"], ["skill", "a skill of an agent"]] },
    { at: c("model"), label: "Model", help: "provider/name", required: true, mono: true, when: (of) => config(of, "mode") === "direct" },
    { at: c("system"), label: "System prompt", kind: "area", help: "No argument has a place in it.", when: (of) => config(of, "mode") === "direct" },
    { ...agent, when: (of) => ["agent", "skill"].includes(String(config(of, "mode"))) },
    { at: c("skill"), label: "Skill", required: true, mono: true, when: (of) => config(of, "mode") === "skill" },
    { ...template, required: true, when: (of) => config(of, "mode") !== "skill" },
  ],
  composition: [{ at: c("steps"), label: "Steps", kind: "json", required: true, help: 'A list: [{"id": "order", "tool": "getOrder", "arguments": {"id": {"$from": "/input/id"}}}]' },
    { at: c("output"), label: "Answer", kind: "json", help: "What is answered, made of the results of the steps." }],
  graph: [{ at: c("nodes"), label: "Nodes", kind: "json", required: true, help: "A list of nodes, each with an id and a kind." }],
  client: [
    { at: "/interaction/intent", label: "Intent", kind: "choice", options: [["", "by default"], ["render", "shows something"], ["action", "does something"], ["compute", "computes something"]] },
    { at: "/interaction/requires_response", label: "The call waits for an answer", kind: "check" },
    { at: "/interaction/default_result", label: "Answer of a call that does not wait", kind: "json" },
  ],
  input: [],
  provider: [
    { at: c("provider"), label: "Provider", help: "What stands before the slash in the model of an agent.", required: true, mono: true },
    { at: c("tool"), label: "The provider's description", kind: "json", required: true, help: "It is sent as it stands, so nothing secret belongs into it." },
  ],
  internal: [],
  custom: [{ at: c("executor"), label: "Executor", help: "The name under which a worker registers it.", required: true, mono: true }],
};

export const execution: Part[] = [
  { at: "/execution_config/timeout_s", label: "Timeout of one attempt, in seconds", kind: "number" },
  { at: "/execution_config/max_attempts", label: "Attempts", kind: "number", help: "How often a call that may be repeated is tried." },
  { at: "/execution_config/is_pure", label: "It is pure: no side effects, so calls are repeated and run side by side", kind: "check" },
  { at: "/execution_config/idempotent", label: "It is idempotent: a repeated call has one effect", kind: "check" },
  { at: "/execution_config/concurrency_group", label: "Concurrency group", mono: true },
  { at: "/execution_config/max_concurrency", label: "Calls at once in a run", kind: "number" },
  { at: "/execution_config/tenant_max_concurrency", label: "Calls at once in the tenant", kind: "number" },
  { at: "/execution_config/inline_bytes", label: "Largest answer a model is shown whole, in bytes", kind: "number" },
  { at: "/execution_config/lane", label: "Lane", kind: "choice", options: [["", "auto"], ["visible", "visible: each attempt is an activity"], ["fast", "fast"]] },
  { at: "/execution_config/trust", label: "Results", kind: "choice", options: [["", "by the type"], ["trusted", "trusted"], ["untrusted", "untrusted: they taint the run"]] },
];

export const identity: Part[] = [
  { at: "/slug", label: "Slug", help: "The name that models call it by: letters, digits, _ and -.", required: true, mono: true },
  { at: "/name", label: "Name", help: "For people." },
  { at: "/description", label: "Description", kind: "area", help: "What a model reads: what it does, when to use it, and when not.", required: true },
  { at: "/category", label: "Category" },
  { at: "/version", label: "Version of the draft", mono: true },
];

export const visibility: Part[] = [
  { at: "/egress_class", label: "Reaches out", kind: "choice", options: [["", "nothing outside"], ["read_only", "reads outside"], ["write", "writes outside: calls need an approval"]] },
  { at: "/requires_approval", label: "Each call needs an approval", kind: "check" },
  { at: "/permission_policy", label: "Permission policy", kind: "choice", options: [["", "auto"], ["always_ask", "always ask"]] },
  { at: "/required_permission", label: "Permission", help: "A caller without it does not see the tool.", mono: true },
  { at: "/interaction/audience", label: "Who calls it", kind: "choice", options: [["", "by default"], ["model", "models"], ["user", "people and clients, no model"]] },
  { at: "/interaction/visibility", label: "Listed for", kind: "choice", options: [["", "all who may use it"], ["external", "all who may use it, as declared"], ["internal", "agents and workflows alone call it"]] },
  { at: "/interaction/risk/level", label: "Risk", kind: "choice", options: [["", "as it follows from what it reaches"], ["low", "low"], ["medium", "medium"], ["high", "high"]] },
  { at: "/interaction/risk/reason", label: "Why", when: (of) => !!get(of, "/interaction/risk/level") },
];

// shown are the parts that a definition asks for.
export const shown = (all: Part[], of: Fields): Part[] => all.filter((p) => p.when?.(of) ?? true);
