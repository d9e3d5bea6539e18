import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { startArguments } from "../../../../buildpack/image/start.ts";

const sh = (line: string) => ["/bin/sh", "-c", line];

test.each<[string, string | null, string[]]>([
  ["node server.js", null, ["node", "server.js"]],
  ["next start -p 3000", null, ["next", "start", "-p", "3000"]],
  ["gunicorn --bind 0.0.0.0:$PORT app:app", null, sh("exec gunicorn --bind 0.0.0.0:$PORT app:app")],
  ["node server.js", "prisma migrate deploy", sh("prisma migrate deploy && exec node server.js")],
  ["node server.js", "a; b", sh("( a; b ) && exec node server.js")],
  ["a && node b.js", "up", sh("up && { a && exec node b.js; }")],
  ["NODE_ENV=production node a.js", null, sh("exec env NODE_ENV=production node a.js")],
  ["cross-env A=1 B='2 3' node a.js", null, sh("exec env A=1 B='2 3' node a.js")],
  ["a && b && node c.js", null, sh("a && b && exec node c.js")],
  ["a; node c.js", null, sh("a; exec node c.js")],
  ["worker & node c.js", null, sh("worker & exec node c.js")],
  ["node a.js > log 2>&1", null, sh("exec node a.js > log 2>&1")],
  ["node a.js | pino", null, sh("node a.js | pino")],
  ["export A=1; node a.js", null, sh("export A=1; exec node a.js")],
  ["exec node a.js", null, sh("exec node a.js")],
  ["cd api && node a.js", null, sh("cd api && exec node a.js")],
  ["node -e 'a && b'", null, sh("exec node -e 'a && b'")],
  ["if x; then node a.js; fi", null, sh("if x; then node a.js; fi")],
  ["(cd api; node a.js)", null, sh("(cd api; node a.js)")],
  ["node a.js &", null, sh("node a.js &")],
  ["cd api", null, sh("cd api")],
])("%s after %s", (start, prestart, expected) => {
  expect(startArguments({ start, prestart })).toEqual(expected);
});

const program =
  "process.on('SIGTERM', () => { console.log('bye'); process.exit(7); }); console.log('up ' + (process.env.A ?? '')); setInterval(() => {}, 1000)";

/** Ends processes that remain if a start command does not forward the signal. */
function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // The group is gone already.
  }
}

test.each([
  [`node -e "${program}"`, null, "up "],
  [`A=1 node -e "${program}"`, null, "up 1"],
  [`cross-env A=2 node -e "${program}"`, "true", "up 2"],
  [`true && A=3 node -e "${program}"`, "true; true", "up 3"],
])("the app itself gets SIGTERM (%#)", async (start, prestart, greeting) => {
  const [file = "", ...words] = startArguments({ start, prestart });
  const child = spawn(file, words, { stdio: ["ignore", "pipe", "inherit"], detached: true });
  onTestFinished(() => endGroup(child.pid));
  let output = "";
  child.stdout.on("data", (chunk) => {
    output += chunk;
    if (output.includes("up")) child.kill("SIGTERM");
  });
  const [code] = await once(child, "exit");
  expect(output).toBe(`${greeting}\nbye\n`);
  expect(code).toBe(7);
});
