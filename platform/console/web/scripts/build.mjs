// Builds ../dist, and says in it what it was built from. Run it with npm run build.
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execFileSync } from "node:child_process";
import { build } from "vite";

const web = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(web, "node_modules", ".dist"); // Moved to ../dist when it is whole.
process.chdir(web);

const files = (folder) =>
  readdirSync(join(web, folder), { withFileTypes: true })
    .flatMap((e) => (e.isDirectory() ? files(`${folder}/${e.name}`) : [`${folder}/${e.name}`]));

// sources are what decides the result, as source_test.go lists them too.
const sources = [...files("src"), ...files("public"), "index.html", "package.json", "package-lock.json", "tsconfig.json",
  "vite.config.ts", "scripts/build.mjs"].sort();

// digest hashes files by their names and contents.
const digest = (names, root) => {
  const all = createHash("sha256");
  for (const name of names) {
    const content = readFileSync(join(root, name));
    all.update(`${name}\n${content.length}\n`).update(content);
  }
  return all.digest("hex");
};

execFileSync(process.execPath, [join(web, "node_modules/typescript/bin/tsc"), "--noEmit"], { stdio: "inherit" });
await build({ root: web, logLevel: "warn" });
copyFileSync(join(web, "index.html"), join(dist, "index.html"));
writeFileSync(join(dist, "THIRD_PARTY_LICENSES.txt"), licenses());
const results = readdirSync(dist, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())
  .map((e) => join(e.parentPath, e.name).slice(dist.length + 1)).sort();
writeFileSync(join(dist, "BUILD.json"),
  JSON.stringify({ source: digest(sources, web), hash: digest(results, dist).slice(0, 16) }, null, 2) + "\n");
rmSync(join(web, "..", "dist"), { recursive: true, force: true });
renameSync(dist, join(web, "..", "dist"));

// licenses are those of the packages that the result has parts of.
function licenses() {
  const lock = JSON.parse(readFileSync(join(web, "package-lock.json"), "utf8"));
  const parts = Object.entries(lock.packages).filter(([at, p]) => at && !p.dev && !p.optional && !p.peer).map(([at, p]) => {
    const name = at.replace(/^.*node_modules\//, "");
    const file = readdirSync(join(web, at)).find((f) => /^licen[cs]e/i.test(f));
    const text = file ? readFileSync(join(web, at, file), "utf8").trim() : `License: ${p.license}`;
    return `${name} ${p.version} (${p.license})\n\n${text}\n`;
  });
  return `The console has parts of these packages.\n\n${parts.join(`\n${"-".repeat(72)}\n\n`)}`;
}
