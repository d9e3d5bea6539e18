import { describe, expect, test } from "vitest";
import { failureExcerpt } from "../../../../lambdas/pipeline/model/output-excerpt.ts";

const esc = String.fromCharCode(27);

/** Twenty-one lines that say nothing: without an error, an excerpt is the last twenty lines. */
const before = Array.from({ length: 21 }, (_, index) => `step ${index}`);

describe("the excerpt of a failed command's output", () => {
  test.each([
    "npm error code E1",
    "npm ERR! code E1",
    " ERR_PNPM_NO_LOCKFILE  x",
    "ELIFECYCLE  Command failed",
    "➤ YN0001: │ Error: x",
    "➤ YN0009: │ a couldn't be built: Failed",
    "error Command failed",
    "ERROR: x",
    "src/a.ts(1,2): error TS2304: x",
    "Traceback (most recent call last):",
    "TypeError: x",
    "ImportError x: y",
    "[ERROR] x: y",
    "ERROR in x: y",
    "[ERROR x: y",
    "Error [ERR_X]: x",
    "✘ [ERROR] x",
    "[vite] x",
    "Module not found x",
    "Failed to compile.",
    "FATAL ERROR: x",
    "x FATAL ERROR: y",
    "sh: 1: tsc: not found",
    "sh: tsc: command not found",
  ])("begins with the first error: %s", (line) => {
    expect(failureExcerpt([...before, line, "after"])).toEqual([line, "after"]);
  });

  test.each([
    " ELIFECYCLE  Command failed with exit code 1.",
    "error Command failed with exit code 2.",
    "npm error Lifecycle script `build` failed with error:",
  ])("holds what is before the package manager's own line: %s", (line) => {
    expect(failureExcerpt([...before, line, "after"])).toEqual([...before.slice(1), line, "after"]);
    expect(failureExcerpt(["TypeError: x", ...before.slice(2), line])).toEqual([
      "TypeError: x",
      ...before.slice(2),
      line,
    ]);
  });

  test.each([
    "x npm error",
    "an error",
    "x ERROR: y",
    "x error TS: y",
    "a Traceback (most recent call last):",
    "my Error: x y",
    "not Failed to compile",
    "not found",
    "tsc: not found there",
    "ERRORS x",
    "x ERR_PNPM_A",
    "a ➤ error x",
    "a ➤ YN0001: error x",
    "an error x",
    "x ✘ [ERROR] y",
    "a [vite] x",
    "a Module not found",
    "a: not found.",
  ])("does not begin with '%s'", (line) => {
    expect(failureExcerpt([...before, line])).toEqual([...before.slice(2), line]);
  });

  test.each([
    "",
    "  ",
    "npm error",
    "npm ERR! code ",
    "npm error A complete log of this run can be found in: x",
    "npm error For a full report see:",
    "npm error /root/.npm/_logs/1-debug-0.log",
    "npm error /root/report.txt",
    "npm error Note that you can also install from a",
    "npm error tarball, folder, http url, or git url.",
    "npm warn Unknown user config x",
    "npm WARN Unknown env config x",
    "npm error 404",
    "npm ERR! 404 ",
    "WARNING: Retrying (Retry(total=4",
    "WARNING: Location 'x' is ignored: y",
    "WARNING: Location '/wheels' is ignored: y",
    "Looking in indexes: x",
    "Looking in links: x",
    "[notice] A new release",
  ])("leaves out '%s'", (line) => {
    expect(failureExcerpt(["a", line, "b"])).toEqual(["a", "b"]);
  });

  test.each([
    "npm error 4040 x",
    "npm error code E1",
    "npm error codeE1",
    "npm error 404x",
    "npm error 404 x",
    "x npm warn Unknown user config y",
    "x npm error 404",
    "x WARNING: Retrying (y",
    "x npm error tarball, folder, http url",
    "npm error /a.log/b",
    "npm warn Unknown thing",
    "WARNING: Retrying",
    "x Looking in indexes: y",
    "x [notice] y",
    "npm error see /root/report.txt",
    "a npm error",
  ])("keeps '%s'", (line) => {
    expect(failureExcerpt(["a", line, "b"])).toContain(line);
  });

  test("leaves out npm's usage text to its end", () => {
    const usage = ["npm error Usage:", "npm error npm ci", "npm error --install"];
    for (const start of ["npm error Clean install a project", "npm ERR! Usage:  "]) {
      expect(failureExcerpt(["npm error x", start, ...usage, "done", "npm error y"])).toEqual([
        "npm error x",
        "done",
        "npm error y",
      ]);
    }
    expect(failureExcerpt(["x npm error Usage:", "npm error y"])).toEqual(["npm error y"]);
    expect(failureExcerpt(["npm error z", "npm error Usage:", "x npm error y"])).toEqual([
      "npm error z",
      "x npm error y",
    ]);
    expect(failureExcerpt(["npm error Usage:x", "npm error y"])).toEqual(["npm error Usage:x", "npm error y"]);
    expect(failureExcerpt(["npm error Usage: x", "npm error y"])).toEqual(["npm error Usage: x", "npm error y"]);
  });

  test.each([
    ["#9 1.234 text", "text"],
    ["#12 text", "text"],
    ["#9 12.345 text", "text"],
    ["1.234 text", "text"],
    ["12.345 text", "text"],
    ["[Container] 2026/05/01 10:00:00.123 text", "text"],
    ["[Container] 2026/05/01 10:00:00 text", "text"],
    [`${esc}[31mred${esc}[0m and ${esc}[1;32mgreen${esc}[K`, "red and green"],
    ["text   ", "text"],
    ["x #9 text", "x #9 text"],
    ["1.23 text", "1.23 text"],
    ["x 1.234 text", "x 1.234 text"],
    ["[Container] at 10:00:00 text", "[Container] at 10:00:00 text"],
  ])("cleans '%s'", (line, cleaned) => {
    expect(failureExcerpt([line])).toEqual([cleaned]);
  });

  test("says BuildKit's output once: not its summary again", () => {
    expect(failureExcerpt(["a", " ------ ", "a again", "------", "b"])).toEqual(["a"]);
    expect(failureExcerpt(["-------", "x ------", "a"])).toEqual(["-------", "x ------", "a"]);
    expect(failureExcerpt(["a", "x ------", "------ y", "b"])).toEqual(["a", "x ------", "------ y", "b"]);
    expect(failureExcerpt(["------", "a"])).toEqual(["------", "a"]);
  });

  test("of BuildKit's output is what the failed step printed, whether or not it looks like an error", () => {
    const output = [
      "#8 [build 3/4] COPY . .",
      "#8 DONE 0.1s",
      "#9 [build 4/4] RUN npm run build",
      "#9 0.312 compiling",
      "#9 0.400 type error in x.ts",
      "#10 [stage-1 1/2] WORKDIR /app",
      '#9 ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2',
      "------",
      " > [build 4/4] RUN npm run build:",
      "------",
    ];
    expect(failureExcerpt(output)).toEqual(["compiling", "type error in x.ts"]);
    expect(failureExcerpt(output.slice(0, 6))).toContain("[stage-1 1/2] WORKDIR /app");
  });

  test("of BuildKit's steps, whatever their numbers, and of lines that only look like theirs", () => {
    const output = [
      "#23 [build 10/12] RUN npm run build",
      "#23 0.3 copied #9 [build 4/4] RUN npm ci",
      '#23 0.4 told #9 ERROR: process "/bin/sh -c npm ci"',
      '#23 ERROR: process "/bin/sh -c npm run build" did not complete successfully: exit code: 2',
    ];
    const printed = ["copied #9 [build 4/4] RUN npm ci", 'told #9 ERROR: process "/bin/sh -c npm ci"'];
    expect(failureExcerpt(output)).toEqual(printed);
    expect(failureExcerpt(["#9 0.1 x", ...output])).toEqual(printed);
  });

  test("cuts a line after 500 characters", () => {
    const [whole, long] = ["x".repeat(500), "x".repeat(501)];
    expect(failureExcerpt([whole, long])).toEqual([whole, `${whole} …`]);
  });

  test("of more than thirty lines is the first twenty and the last ten", () => {
    const lines = ["ERROR: x", ...Array.from({ length: 30 }, (_, index) => `line ${index}`)];
    expect(failureExcerpt(lines.slice(0, 30))).toEqual(lines.slice(0, 30));
    expect(failureExcerpt(lines)).toEqual([...lines.slice(0, 20), "…", ...lines.slice(-10)]);
  });
});
