import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";

/** The user's settings that are kept: proxies of containers, and folders of plug-ins such as buildx. */
const kept = z.object({
  proxies: z.unknown().optional(),
  cliPluginsExtraDirs: z.array(z.string()).default([]),
});

function read(path: string): z.infer<typeof kept> {
  try {
    const found = kept.safeParse(JSON.parse(readFileSync(path, "utf8")));
    if (found.success) return found.data;
  } catch {
    // No readable configuration: use the defaults, as docker does.
  }
  return { cliPluginsExtraDirs: [] };
}

/**
 * Writes a configuration of `docker` to a new folder, so that a login does not change the user's, and returns the
 * environment that uses it. `passwords` are those of ECR's user AWS by registry host.
 */
export function useClientConfig(
  folder: string,
  env: Record<string, string>,
  passwords: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const usual = env.DOCKER_CONFIG ?? join(env.HOME ?? homedir(), ".docker");
  const { proxies, cliPluginsExtraDirs } = read(join(usual, "config.json"));
  const auths = Object.fromEntries(
    Object.entries(passwords).map(([host, text]) => [host, { auth: Buffer.from(`AWS:${text}`).toString("base64") }]),
  );
  const config = { auths, proxies, cliPluginsExtraDirs: [...cliPluginsExtraDirs, join(usual, "cli-plugins")] };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify(config), { mode: 0o600 });
  return { ...env, DOCKER_CONFIG: folder };
}
