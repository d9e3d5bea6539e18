import { afterAll, vi } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.ts";

declare global {
  var environmentOfFirstFile: NodeJS.ProcessEnv | undefined;
}
// A global, because this module is loaded again for each file.
globalThis.environmentOfFirstFile ??= { ...process.env };
const first = globalThis.environmentOfFirstFile;

// Test files share a process, whose environment services and tests change: each file begins with the environment of the first.
vi.useRealTimers();
vi.restoreAllMocks();
vi.unstubAllEnvs();
for (const name of Object.keys(process.env)) if (!(name in first)) delete process.env[name];
Object.assign(process.env, first);
afterAll(removeTemporaryFolders);
