import { spawn } from "node:child_process";
import type { Context } from "./command.ts";

/** The program of each platform that opens an address. */
const openers: Partial<Record<NodeJS.Platform, [program: string, ...args: string[]]>> = {
  darwin: ["open"],
  // Not `cmd /c start`, for which & separates commands.
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
  linux: ["xdg-open"],
};

/** Whether this machine has a screen on which a browser could open. */
export function hasDisplay(environment: Context["environment"], platform: NodeJS.Platform): boolean {
  if (platform === "linux") return Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY);
  return !environment.SSH_CONNECTION;
}

/** Opens an address in the user's browser; false if no program does that. */
export function openInBrowser(address: string): Promise<boolean> {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, address], { stdio: "ignore", detached: true });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
