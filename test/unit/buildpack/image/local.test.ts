import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { localCommands } from "../../../../buildpack/image/local.ts";
import { analysisOf } from "../analysis/tree.ts";

const machine = { python: "/opt/my python/bin/python3", tools: "/tmp/tools", managers: new Set(["npm", "pip"]) };
const commandsOf = (files: Record<string, string | object>) =>
  localCommands(analysisOf(files).plan, machine).map(({ stage, command }) => `${stage}: ${command}`);

test("a local build runs the same commands as on AWS: install, then build", () => {
  expect(
    commandsOf({ "package.json": { scripts: { start: "node a.js", build: "tsc" }, dependencies: { a: "1" } } }),
  ).toEqual(["install: npm install", "build: npm run build"]);
  expect(commandsOf({ "server.js": "" })).toEqual([]);
});

test("a manager that the machine lacks is installed beside the app", () => {
  expect(
    commandsOf({
      "package.json": { scripts: { start: "node a.js" }, packageManager: "pnpm@9.15.4", dependencies: { a: "1" } },
      "a.js": "",
    }),
  ).toEqual([
    "install: npm install --global --prefix /tmp/tools pnpm@9.15.4",
    "install: pnpm install --no-frozen-lockfile",
  ]);
  const [manager] = commandsOf({ "pyproject.toml": '[project]\nname="a"\n', "main.py": "" });
  expect(manager).toBe("install: '/opt/my python/bin/python3' -m venv /tmp/tools && /tmp/tools/bin/pip install uv");
});

test("Python packages go into a virtual environment of the app's own", () => {
  const commands = commandsOf({
    "requirements.txt": "flask\n",
    "app.py": "from flask import Flask\napp = Flask(__name__)\n",
  });
  expect(commands.slice(0, 3)).toEqual([
    "install: '/opt/my python/bin/python3' -m venv .venv",
    "install: pip install -r requirements.txt",
    "install: pip install gunicorn",
  ]);
});

test("programs of the virtual environment run after its folder was moved", () => {
  const folder = mkdtempSync(join(tmpdir(), "venv-"));
  try {
    const before = join(folder, "before");
    const bin = join(before, ".venv", "bin");
    mkdirSync(bin, { recursive: true });
    const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" }).trim();
    execFileSync("ln", ["-s", python, join(bin, "python")]);
    execFileSync("ln", ["-s", "python", join(bin, "python3")]);
    const program = "import sys\nprint('ran by', sys.executable)\n";
    writeFileSync(join(bin, "short"), `#!${bin}/python3.13\n${program}`, { mode: 0o755 });
    writeFileSync(join(bin, "long"), `#!/bin/sh\n'''exec' "${bin}/python" "$0" "$@"\n' '''\n${program}`, {
      mode: 0o755,
    });
    writeFileSync(join(bin, "shell"), "#!/bin/sh\necho shell\n", { mode: 0o755 });
    const relocate =
      localCommands(analysisOf({ "requirements.txt": "x", "main.py": "" }).plan, machine).at(-1)?.command ?? "";
    execFileSync("/bin/sh", ["-c", relocate], { cwd: before });
    const after = join(folder, "after");
    renameSync(before, after);
    const moved = join(after, ".venv", "bin");
    const env = { PATH: `${moved}:/usr/bin:/bin` };
    for (const name of ["short", "long"])
      expect(execFileSync("/bin/sh", ["-c", `exec ${name}`], { env, encoding: "utf8" })).toContain("ran by");
    expect(readFileSync(join(moved, "shell"), "utf8")).toBe("#!/bin/sh\necho shell\n");
    expect(execFileSync("python3", ["-c", "print(1)"], { env, encoding: "utf8" })).toBe("1\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
