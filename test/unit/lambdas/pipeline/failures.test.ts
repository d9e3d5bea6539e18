import { describe, expect, test } from "vitest";
import { appAdvice, buildAdvice } from "../../../../lambdas/pipeline/model/advice.ts";
import { buildFailedReason, detectedSentence } from "../../../../lambdas/pipeline/model/failures.ts";
import { unhealthyReason, withOutput } from "../../../../lambdas/pipeline/model/health.ts";

/** Outputs as the programs wrote them, with paths shortened. */
const npmUsage = `install: npm ci
npm error code EUSAGE
npm error
npm error \`npm ci\` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with \`npm install\` before continuing.
npm error
npm error Missing: accepts@1.3.8 from lock file
npm error Missing: mime-types@2.1.35 from lock file
npm error
npm error Clean install a project
npm error
npm error Usage:
npm error npm ci
npm error
npm error Options:
${"npm error [--install-strategy <hoisted|nested|shallow|linked>] [--legacy-bundling]\n".repeat(40)}npm error aliases: clean-install, ic, install-clean, isntall-clean
npm error
npm error Run "npm help ci" for more info
npm error A complete log of this run can be found in: /root/.npm/_logs/2026-11-21T23_48_37_641Z-debug-0.log
npm ci failed with exit code 1`.split("\n");
const npmNotFound = `install: npm install
npm error code E404
npm error 404 Not Found - GET https://registry.example/no-such-package-xyz
npm error 404
npm error 404  The requested resource 'no-such-package-xyz@1.0.0' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm install failed with exit code 1`.split("\n");
const npmTarget = [
  "npm error code ETARGET",
  "npm error notarget No matching version found for ms@99.0.0.",
  "npm error notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.",
];
const npmResolve = [
  "npm error code ERESOLVE",
  "npm error ERESOLVE unable to resolve dependency tree",
  "npm error Found: eslint@8.0.0",
];
const tsc = [
  "build: npm run build",
  "> a@1.0.0 build",
  "> tsc -p .",
  "i.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.",
  ...Array.from({ length: 60 }, (_, i) => `more.ts(${i},1): error TS2304: Cannot find name 'n${i}'.`),
  "npm run build failed with exit code 2",
];
const pip = [
  "WARNING: Retrying (Retry(total=4, connect=None, read=None, redirect=None, status=None)) after connection broken by 'NewConnectionError': /simple/flask/",
  "ERROR: Could not find a version that satisfies the requirement flask==99.0 (from versions: 3.1.3)",
  "ERROR: No matching distribution found for flask==99.0",
  "pip install -r requirements.txt failed with exit code 1",
];
const nodeMissing = [
  "node:internal/modules/cjs/loader:1568",
  "  throw err;",
  "  ^",
  "Error: Cannot find module 'missing-mod'",
  "Require stack:",
  "- /app/server.js",
];
const nodeMissingEsm = [
  "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '@scope/missing' imported from /app/server.mjs",
];
const nodeMissingFile = [
  "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/app/gone.js' imported from /app/server.mjs",
];
const heap = [
  "<--- Last few GCs --->",
  "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
  "----- Native stack trace -----",
];
const pythonMissing = [
  "Traceback (most recent call last):",
  '  File "/app/main.py", line 1, in <module>',
  "ModuleNotFoundError: No module named 'nosuch.part'",
];
const pythonVariable = [
  "Traceback (most recent call last):",
  '  File "<frozen os>", line 679, in __getitem__',
  "KeyError: 'SECRET_KEY'",
];
/** BuildKit's plain progress: the output with step numbers, then once more as a summary. */
const buildKit = `#9 [build 4/6] RUN npm ci
#9 1.234 npm error code EUSAGE
#9 1.235 npm error Missing: accepts@1.3.8 from lock file
#9 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1
------
 > [build 4/6] RUN npm ci:
1.234 npm error code EUSAGE
1.235 npm error Missing: accepts@1.3.8 from lock file
------
Dockerfile:8
ERROR: failed to build: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1
[Container] 2026/05/01 10:00:00.123 Phase complete: BUILD State: FAILED`.split("\n");

describe("a failed build's reason", () => {
  test("keeps npm's first errors and says what to do, without its usage", () => {
    const reason = buildFailedReason(npmUsage, "Detected: nodejs24.x, started with: node server.js");
    expect(reason.split("\n")).toEqual([
      "The image could not be built: npm ci failed with exit code 1.",
      "package-lock.json does not match package.json: run npm install and commit package-lock.json.",
      "Detected: nodejs24.x, started with: node server.js",
      "Output:",
      "npm error code EUSAGE",
      expect.stringContaining("`npm ci` can only install packages"),
      "npm error Missing: accepts@1.3.8 from lock file",
      "npm error Missing: mime-types@2.1.35 from lock file",
    ]);
  });

  test("keeps the first errors of a long output, and its end", () => {
    const lines = buildFailedReason(tsc).split("\n");
    expect(lines[0]).toBe("The image could not be built: npm run build failed with exit code 2.");
    expect(lines).toContain("i.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.");
    expect(lines).toContain("more.ts(0,1): error TS2304: Cannot find name 'n0'.");
    expect(lines.at(-1)).toBe("more.ts(59,1): error TS2304: Cannot find name 'n59'.");
    expect(lines.length).toBeLessThan(36);
  });

  test("says every line of BuildKit's output once, and which command failed", () => {
    const reason = buildFailedReason(buildKit);
    expect(reason).toContain("The image could not be built: npm ci failed with exit code 1.");
    expect(reason.split("Missing: accepts@1.3.8")).toHaveLength(2);
    expect(reason).not.toMatch(/#9|\[Container\]/);
  });

  test("gives the last lines of output that names no error, and no more than its first sentence without any", () => {
    const steps = Array.from({ length: 50 }, (_, i) => `step ${i}`);
    expect(buildFailedReason(steps).split("\n").slice(-20)).toEqual(steps.slice(-20));
    expect(buildFailedReason([])).toBe("The image could not be built: a command of the build failed.");
  });

  test("cuts lines that have no end", () => {
    expect(buildFailedReason([`ERROR: ${"x".repeat(100_000)}`]).length).toBeLessThan(1_000);
  });
});

describe("advice on a build", () => {
  test.each([
    [npmUsage, "run npm install and commit package-lock.json"],
    [npmNotFound, "no-such-package-xyz is not in the registry"],
    [npmTarget, "ms@99.0.0 does not exist"],
    [npmResolve, "legacy-peer-deps=true"],
    [pip, "pip found no version of flask==99.0"],
    [heap, "NODE_OPTIONS to --max-old-space-size=3072"],
    [["docker: exit code: 137"], "out of memory"],
    [["MemoryError"], "out of memory"],
    [["sh: 1: tsc: not found"], "The program tsc is not installed"],
    [["error TS2307: Cannot find module 'missing/part' or its corresponding type declarations."], "Add missing to"],
    [["ERR_PNPM_OUTDATED_LOCKFILE  Cannot install"], "commit pnpm-lock.yaml"],
  ])("%#", (lines, expected) => {
    expect(buildAdvice(lines)).toContain(expected);
  });

  test.each([[["compiled with 3 warnings"]], [[]], [["404 page built", "not found page rendered"]]])(
    "none for %j",
    (lines) => {
      expect(buildAdvice(lines)).toBeUndefined();
    },
  );
});

describe("advice on an app", () => {
  test.each([
    [nodeMissing, "Add missing-mod to the dependencies"],
    [nodeMissingEsm, "Add @scope/missing to the dependencies"],
    [nodeMissingFile, "The file /app/gone.js is not in the deployed code"],
    [pythonMissing, "Add the package that provides nosuch to"],
    [pythonVariable, "Set the variable SECRET_KEY (slipway env set SECRET_KEY=…)"],
    [["Error: DATABASE_URL is not defined"], "Set the variable DATABASE_URL"],
    [["Missing required environment variable: STRIPE_KEY"], "Set the variable STRIPE_KEY"],
    [["Missing environment variables: API_TOKEN, OTHER"], "Set the variable API_TOKEN"],
    [["RuntimeError: Environment variable 'REDIS_URL' must be set"], "Set the variable REDIS_URL"],
    [["JWT_SECRET is required"], "Set the variable JWT_SECRET"],
    [heap, "The app ran out of memory"],
  ])("%#", (lines, expected) => {
    expect(appAdvice(lines)).toContain(expected);
  });

  test.each([
    [["ReferenceError: x is not defined"]],
    [["GET / HTTP/1.1 is required"]],
    [["JSON is required"]],
    [["An environment variable can change this"]],
  ])("none for %j", (lines) => {
    expect(appAdvice(lines)).toBeUndefined();
  });
});

describe("an unhealthy app's reason", () => {
  const unhealthy = (reason: string) => [
    `(service app) (port 8080) is unhealthy in (target-group t) due to (reason ${reason})`,
  ];
  const refused = { failure: "refused" } as const;

  test.each([
    [
      unhealthy("Health checks failed; the task listens on 127.0.0.1:8080 only"),
      [],
      "Your app listens on 127.0.0.1:8080 only",
    ],
    [
      unhealthy("Health checks failed; the task listens on port 9229, port 3000"),
      [],
      "listens on port 9229, port 3000, but requests arrive on port 8080",
    ],
    [unhealthy("Health checks failed; the task listens on no port"), [], "Nothing is listening on port 8080"],
    [[], ["Server listening on http://localhost:3000"], "listens on port 3000, but"],
    [unhealthy("Request timed out"), [], "no answer within 5 s"],
  ])("%j %j", (events, output, expected) => {
    expect(unhealthyReason({ probe: refused, events, output, port: 8080, path: "/" })).toContain(expected);
  });

  test("comes with advice, what was detected and the last output", () => {
    const build = { runtime: "python3.13", start: "gunicorn app:app" };
    expect(withOutput("It ended.", pythonVariable, detectedSentence(build)).split("\n")).toEqual([
      "It ended.",
      "Set the variable SECRET_KEY (slipway env set SECRET_KEY=…), then deploy or rebuild.",
      "Detected: python3.13, started with: gunicorn app:app",
      "Last output:",
      ...pythonVariable,
    ]);
  });
});

test.each([
  [
    "ERROR: failed to solve: 127.0.0.1:9/none:1: failed to resolve source metadata for 127.0.0.1:9/none:1: dial tcp",
    "its base image 127.0.0.1:9/none:1 could not be pulled.",
  ],
  ["#14 ERROR: failed to copy: write /var/lib/docker/x: no space left on device", "the disk is full."],
  [
    "ERROR: failed to solve: failed to push 127.0.0.1:20001/x: unexpected status from PUT request: 507 Insufficient Storage",
    "the disk is full.",
  ],
  [
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    "the Docker engine stopped during the build. Start it, and build again.",
  ],
  ["#9 0.2 sh: echo: no space left on device", "a command of the build failed."],
  ["#9 0.2 my ERROR: no space left on device", "a command of the build failed."],
  ["#9 0.2 Cannot connect to the Docker daemon", "a command of the build failed."],
  ['ERROR: failed to resolve reference "docker.io/a/b:1": x', "its base image docker.io/a/b:1 could not be pulled."],
])("an image build that the machine ends: %s", (line, sentence) => {
  const lines = ["#9 [build 4/4] RUN npm ci", line, "ERROR: something else"];
  expect(buildFailedReason(lines).split("\n")[0]).toBe(`The image could not be built: ${sentence}`);
});
