import { type ExecFileException, execFile, spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";

/** The folder of base images, their sources and the images built from them. It is outside the repository and kept between runs. */
export const imagesCache = join(process.env.XDG_CACHE_HOME ?? "/var/tmp", "slipway-images");

const found = (program: string): boolean => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

/** The reason why images cannot be built on this machine; null if they can. */
export function noImagesBecause(): string | null {
  if (process.platform !== "linux") return "they need Linux";
  if (process.getuid?.() !== 0) return "they need root";
  const missing = ["buildah", "mmdebstrap", "jq", "unzip", "unshare", "nsenter", "perl"].filter((name) => !found(name));
  return missing.length === 0 ? null : `${missing.join(", ")} missing; scripts/images/install.sh installs them`;
}

/** Uses overlay if the kernel and the disk support it, because vfs copies the whole image for every layer. */
function storageDriver(): string {
  const probe = join(imagesCache, "probe");
  const flags = ["--root", join(probe, "root"), "--runroot", join(probe, "run"), "--storage-driver", "overlay"];
  return spawnSync("buildah", [...flags, "info"]).status === 0 ? "overlay" : "vfs";
}

/** The options and environment of every buildah call: a separate store, and chroot, the only isolation that works everywhere. */
export function buildahCall(): { flags: string[]; env: NodeJS.ProcessEnv } {
  const driver = process.env.STORAGE_DRIVER ?? storageDriver();
  const temporary = join(imagesCache, "tmp");
  mkdirSync(temporary, { recursive: true });
  const flags = ["--root", join(imagesCache, driver), "--runroot", join(imagesCache, `run-${driver}`)];
  return {
    flags: [...flags, "--storage-driver", driver],
    env: { ...process.env, STORAGE_DRIVER: driver, BUILDAH_ISOLATION: "chroot", TMPDIR: temporary },
  };
}

/** Runs buildah and returns its output; rejects with its error output. */
export async function buildah(args: readonly string[]): Promise<string> {
  const { flags, env } = buildahCall();
  const ended = Promise.withResolvers<string>();
  const end = (error: ExecFileException | null, output: string, problems: string) =>
    error === null ? ended.resolve(output.trim()) : ended.reject(new Error(`buildah ${args[0]}: ${problems}`));
  execFile("buildah", [...flags, ...args], { env, maxBuffer: 64 * 1024 * 1024 }, end);
  return ended.promise;
}
