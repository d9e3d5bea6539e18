import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntimes } from "../../../local/codebuild/runtimes.ts";

const python = "/usr/bin/python3";
const dpkg = "/usr/bin/dpkg-query";
const lines = ["3.14", "3.13", "3.12"];

/** A Python release line that this machine does not have, so that Debian's Python runs its apps; undefined if there is none. */
export async function lineOfDebianPython(): Promise<string | undefined> {
  if (!existsSync(python) || !existsSync(dpkg)) return undefined;
  const runtimes = createRuntimes(tmpdir());
  for (const line of lines) {
    const { program, warning } = await runtimes.python(line);
    if (program === python && warning !== undefined) return line;
  }
  return undefined;
}

/** The reason why the Python examples cannot be deployed on this machine; null if they can. */
export function noPythonExamplesBecause(line: string | undefined): string | null {
  if (line === undefined) return `their packages are Debian's, and apps do not run with its ${python} here`;
  // Found, not imported, and by one process: an import of FastAPI takes half a second.
  const search =
    "import importlib.util as u, sys; print(*[m for m in sys.argv[1:] if u.find_spec(m) is None], sep='\\n')";
  const modules = ["fastapi", "uvicorn", "django", "gunicorn", "ensurepip"];
  const { stdout } = spawnSync(python, ["-c", search, ...modules], { encoding: "utf8" });
  const missing = stdout.split("\n").filter(Boolean);
  return missing.length === 0 ? null : `${missing.join(", ")} missing; scripts/images/install.sh installs them`;
}

/** Debian's packages and their dependencies as wheels, by their paths in an archive. */
export function wheelsOf(...packages: string[]): Record<string, Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "slipway-wheels-"));
  try {
    execFileSync(python, [join(import.meta.dirname, "wheels.py"), folder, ...packages]);
    return Object.fromEntries(readdirSync(folder).map((name) => [`wheels/${name}`, readFileSync(join(folder, name))]));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
