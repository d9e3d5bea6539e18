import { spawn } from "node:child_process";
import { once } from "node:events";

/** Runs a program to its end; rejects with its output if it fails. */
export async function run(program: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (output += text));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${output}`);
}
