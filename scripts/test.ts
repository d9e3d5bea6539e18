import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { cacheFolder } from "../local/cache-folder.ts";
import { createRdsData } from "../local/rds/server.ts";

const Report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(z.object({ status: z.string() })),
    }),
  ),
});
type TestFile = z.infer<typeof Report>["testResults"][number];

/** Several checkers would each compute the types that they share, which takes twice the processor time. */
const oneChecker = ["--checkers", "1"];
/** The compiler is a Go program. Without garbage collection it takes a quarter less time and a tenth more memory (1.5 GB). */
const checkEnvironment = { ...process.env, GOGC: "off" };

/** In bytes: several times what the workers and their files take. */
const roomInMemory = 8 * 1024 ** 3;

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
        execFile(
          program,
          args,
          { env: checkEnvironment, maxBuffer: Number.POSITIVE_INFINITY },
          (error, stdout, stderr) => resolve({ name, passed: error === null, output: stdout + stderr }),
        );
      }),
  );
  return (await Promise.all(ended)).map(({ name, passed, output }) => {
    process.stdout.write(`${output}${passed ? "✓" : "✗"} ${name}\n`);
    return passed;
  });
}

/** Caches a fresh PostgreSQL folder, which takes seconds of work: several workers of the tests would each make one at first. */
async function cacheDatabase(folder: string): Promise<void> {
  const data = createRdsData({ dir: join(folder, "postgres"), cacheDir: cacheFolder });
  await data.prepare();
  await data.close();
}

/** The test files of a report; none if vitest ended before it wrote one, which counts as a failure. */
function reportIn(file: string): TestFile[] {
  return existsSync(file) ? Report.parse(JSON.parse(readFileSync(file, "utf8"))).testResults : [];
}

/** Deletes a folder; says so if a process still writes there, because the count must be the last line all the same. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    console.error(`${folder} could not be deleted: ${error}`);
  }
}

/** Tells whether files can be made in memory here. The tests also start apps from there, which containers often forbid. */
function isUsable(memory: string): boolean {
  if (!existsSync(memory)) return false;
  const { bavail, bsize } = statfsSync(memory);
  if (Math.min(bavail * bsize, process.availableMemory()) < roomInMemory) return false;
  const program = join(memory, `slipway-run-${process.pid}.sh`);
  try {
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
    return spawnSync(program).status === 0;
  } catch {
    return false;
  } finally {
    rmSync(program, { force: true });
  }
}

/** Creates the run's own folder. Files in memory save a tenth of the processor time, most of it for their creation and deletion. */
function runFolder(): string {
  const memory = "/dev/shm";
  const parent = process.env.TMPDIR === undefined && isUsable(memory) ? memory : tmpdir();
  return mkdtempSync(join(parent, "slipway-run-"));
}

/** Runs vitest with this folder as the system's temporary folder, so that all files of the tests are deleted with it. */
async function runTests(folder: string, args: string[]): Promise<{ passed: boolean; files: TestFile[] }> {
  const file = join(folder, "report.json");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const vitest = spawn("vitest", ["run", ...reporters, ...args], {
    stdio: "inherit",
    env: { ...process.env, TMPDIR: folder },
  });
  // This process outlives the signal, so that it can delete the folder. A terminal sends SIGINT to vitest itself.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => vitest.kill());
  const [status] = await once(vitest, "exit");
  return { passed: status === 0, files: reportIn(file) };
}

/** Everything that CI runs: checks and tests, with one line at the end that counts them. */
async function main(): Promise<never> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const folder = runFolder();
  const [checked] = await Promise.all([runChecks(), cacheDatabase(folder)]);
  for (const passed of checked) counts[passed ? "passed" : "failed"] += 1;
  const { passed, files } = await runTests(folder, process.argv.slice(2));
  remove(folder);
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
