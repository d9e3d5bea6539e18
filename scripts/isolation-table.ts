import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { findEngine } from "../local/containers/engine.ts";
import { prepareBaseImages } from "./images/base-images.ts";

/** The page whose table this script checks against a run, and the last line of its table's section, which it writes. */
const page = "docs/isolation.md";
const seen = /^The tests of all \d+ lines passed .*$/m;
const rowPattern = /^\| .* \| `(test\/[\w./-]+)`: (.+) \|$/gm;

const reportSchema = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      assertionResults: z.array(
        z.object({ title: z.string(), ancestorTitles: z.array(z.string()), status: z.string() }),
      ),
    }),
  ),
});

/** Runs these test files and gives the outcome of each test, by file and title. */
function outcomesOf(files: readonly string[]): Map<string, string[]> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-isolation-"));
  const report = join(folder, "report.json");
  try {
    const options = ["--maxWorkers=1", "--reporter=json", `--outputFile=${report}`];
    try {
      execFileSync("vitest", ["run", ...options, ...files], { stdio: ["ignore", "ignore", "inherit"] });
    } catch {
      // The report says which test failed.
    }
    const outcomes = new Map<string, string[]>();
    for (const { name, assertionResults } of reportSchema.parse(JSON.parse(readFileSync(report, "utf8"))).testResults)
      for (const { title, status } of assertionResults) {
        const key = `${name.slice(name.indexOf("/test/") + 1)}: ${title}`;
        outcomes.set(key, [...(outcomes.get(key) ?? []), status]);
      }
    return outcomes;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const engine = await findEngine(process.env);
if (engine.kind === "none") throw new Error(`The table needs a run with a Docker engine: ${engine.reason}`);
await prepareBaseImages(engine.docker, console.log);
const text = readFileSync(page, "utf8");
const rows = [...text.matchAll(rowPattern)].map(([, file = "", title = ""]) => ({ file, title }));
const outcomes = outcomesOf([...new Set(rows.map(({ file }) => file))]);
// A test that runs in both ways has two outcomes.
const bad = rows.filter(({ file, title }) => !outcomes.get(`${file}: ${title}`)?.every((one) => one === "passed"));
for (const { file, title } of bad)
  console.log(`${file}: ${title}: ${outcomes.get(`${file}: ${title}`)?.join(", ") ?? "did not run"}`);
if (bad.length > 0 || rows.length === 0) process.exit(1);
const date = new Date().toISOString().slice(0, 10);
const line = `The tests of all ${rows.length} lines passed on ${date} with Docker Engine ${engine.version} on ${process.platform}.`;
if (!seen.test(text)) throw new Error(`${page} has no line that begins with "The tests of all".`);
writeFileSync(page, text.replace(seen, line));
console.log(line);
