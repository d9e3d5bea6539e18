import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";

const Report = z.object({
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.enum(["passed", "failed", "skipped"]),
      assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })),
    }),
  ),
});
type TestFile = z.infer<typeof Report>["testResults"][number];

/** More failed files than this are a fault of the code, not of a busy machine. */
const filesRunAgainMax = 4;

/** Several checkers would each compute the types that they share, which takes twice the processor time. */
const oneChecker = ["--checkers", "1"];

/** Checks outside vitest; each counts as one test. */
const checks: [string, string, string[]][] = [
  ["types", "tsc", oneChecker],
  ["types in browsers", "tsc", ["-p", "tsconfig.browser.json", ...oneChecker]],
  ["lint and format", "biome", ["ci", "--error-on-warnings", "."]],
  ["unused code", "knip", []],
];

/** Runs the checks at the same time; prints what each says when all have ended. */
async function runChecks(): Promise<boolean[]> {
  const ended = checks.map(
    ([name, program, args]) =>
      new Promise<{ name: string; passed: boolean; output: string }>((resolve) => {
        execFile(program, args, { maxBuffer: Number.POSITIVE_INFINITY }, (error, stdout, stderr) =>
          resolve({ name, passed: error === null, output: stdout + stderr }),
        );
      }),
  );
  return (await Promise.all(ended)).map(({ name, passed, output }) => {
    process.stdout.write(`${output}${passed ? "✓" : "✗"} ${name}\n`);
    return passed;
  });
}

/** Runs vitest with this folder as the system's temporary folder, so that all files of the tests are deleted with it. */
function runTests(folder: string, args: string[]): { passed: boolean; files: TestFile[] } {
  const file = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const run = spawnSync("vitest", ["run", ...reporters, ...args], {
    stdio: "inherit",
    env: { ...process.env, TMPDIR: folder },
  });
  return { passed: run.status === 0, files: Report.parse(JSON.parse(readFileSync(file, "utf8"))).testResults };
}

/**
 * Runs the tests; files that failed run once more, alone, and their second result counts. A test that only a busy machine
 * disturbed passes then; it is named, because it is to be made steady.
 */
function runTestsTwice(folder: string, args: string[]): { passed: boolean; files: TestFile[] } {
  const first = runTests(folder, args);
  const failed = first.files.filter(({ status }) => status === "failed");
  if (first.passed || failed.length === 0 || failed.length > filesRunAgainMax) return first;
  const names = failed.map(({ name }) => name);
  console.log(`These files failed and run once more, alone:\n  ${names.join("\n  ")}`);
  const second = runTests(folder, ["--maxWorkers=1", ...names]);
  const steady = second.files.filter(({ status }) => status === "passed").map(({ name }) => name);
  if (steady.length > 0) console.log(`Unsteady, passed only when run again:\n  ${steady.join("\n  ")}`);
  return {
    passed: second.passed,
    files: [...first.files.filter(({ name }) => !names.includes(name)), ...second.files],
  };
}

/** Everything that CI runs: checks and tests, with one line at the end that counts them. */
async function main(): Promise<never> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const passed of await runChecks()) counts[passed ? "passed" : "failed"] += 1;
  const folder = mkdtempSync(join(tmpdir(), "slipway-run-"));
  const { passed, files } = runTestsTwice(folder, process.argv.slice(2));
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  for (const { status } of files.flatMap(({ assertionResults }) => assertionResults)) {
    counts[status === "passed" || status === "failed" ? status : "skipped"] += 1;
  }
  // A fault outside the tests, for example a file that could not be loaded, counts as one.
  if (!passed && counts.failed === 0) counts.failed = 1;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
  process.exit(counts.failed === 0 ? 0 : 1);
}

await main();
