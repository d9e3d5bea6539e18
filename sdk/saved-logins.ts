import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";

const savedLogins = z.object({
  /** The profile that is used when none is named. */
  current: z.string().nullable(),
  profiles: z.record(
    z.string(),
    z.object({
      baseUrl: z.string(),
      token: z.string(),
      /** Of a token that the login itself made, so that logging out deletes it. */
      tokenId: z.string().optional(),
    }),
  ),
});
export type SavedLogins = z.infer<typeof savedLogins>;

/** The file in which `slipway login` keeps tokens, readable by its owner only. */
export function savedLoginsFile(environment: Readonly<Record<string, string | undefined>>): string {
  const folder = environment.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(environment.SLIPWAY_CONFIG || join(folder, "slipway"), "logins.json");
}

/** The saved logins; none if the file does not exist. Throws an Error that names the file, and nothing of its contents. */
export function readSavedLogins(file: string): SavedLogins {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return { current: null, profiles: {} };
    throw new Error(`${file} cannot be read. Check its permissions.`, { cause: error });
  }
  try {
    return savedLogins.parse(JSON.parse(text));
  } catch {
    // The parser's message quotes the text, which holds tokens.
    throw new Error(`${file} does not hold logins. Delete it, and run: slipway login`);
  }
}
