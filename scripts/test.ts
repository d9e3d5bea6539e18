import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";

const report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  numPendingTests: z.int(),
  success: z.boolean(),
});

/** Several checkers would each compute the types that they share, which takes twice the processor time. */
const oneChecker = ["--checkers", "1"];

/** Checks outside vitest; each counts as one test. */
const checks: [string, string, string[]][] = [
  ["types", "tsc", oneChecker],
  ["types in browsers", "tsc", ["-p", "tsconfig.browser.json", ...oneChecker]],
  ["lint and format", "biome", ["ci", "--error-on-warnings", "."]],
  ["unused code", "knip", []],
];

function runs(program: string, args: string[], env = process.env): boolean {
  return spawnSync(program, args, { stdio: "inherit", env }).status === 0;
}

/** Everything that CI runs: checks and tests, with one line at the end that counts them. */
function main(): never {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [name, program, args] of checks) {
    const passed = runs(program, args);
    counts[passed ? "passed" : "failed"] += 1;
    console.log(`${passed ? "✓" : "✗"} ${name}`);
  }
  // The tests use this folder as the system's temporary folder, so that all their files are deleted with it.
  const folder = mkdtempSync(join(tmpdir(), "slipway-run-"));
  const file = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const passed = runs("vitest", ["run", ...reporters, ...process.argv.slice(2)], { ...process.env, TMPDIR: folder });
  const found = report.parse(JSON.parse(readFileSync(file, "utf8")));
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  counts.passed += found.numPassedTests;
  counts.failed += found.numFailedTests + (found.numFailedTests === 0 && !passed ? 1 : 0);
  counts.skipped += found.numPendingTests;
  const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
  console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
  process.exit(counts.failed === 0 ? 0 : 1);
}

main();
