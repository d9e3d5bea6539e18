import { text } from "node:stream/consumers";
import { createClient } from "../../sdk/client.ts";
import { SlipwayError } from "../../sdk/errors.ts";
import { readSavedLogins, savedLoginsFile } from "../../sdk/saved-logins.ts";
import { command } from "../command.ts";
import { Failure, UsageError } from "../failure.ts";
import { askSecret } from "../prompt.ts";
import { saveLogins } from "../save-logins.ts";

const profileOption = {
  type: "string",
  value: "name",
  describe: "the name of the login (default: the service's host)",
} as const;

async function readToken(given: string | undefined, signal: AbortSignal): Promise<string> {
  if (given !== undefined && given !== "-") return given;
  if (given === "-") return (await text(process.stdin)).trim();
  if (!process.stdin.isTTY)
    throw new UsageError("Pass the token: slipway login --token - reads it from standard input.");
  return (await askSecret("Personal access token: ", signal)).trim();
}

/** `slipway login`: saves a token in a file that only its owner can read. */
export const login = command({
  details: "The token is checked first. It is kept in ~/.config/slipway/logins.json, readable by its owner only.",
  options: {
    url: { type: "string", value: "address", describe: "the service (SLIPWAY_URL)" },
    token: { type: "string", value: "token", describe: "the personal access token; - reads it from standard input" },
    profile: profileOption,
  },
  run: async (args, { environment, terminal, signal }) => {
    const url = args.text("url") ?? (environment.SLIPWAY_URL || undefined);
    if (url === undefined) throw new UsageError("Name the service: slipway login --url <address>.");
    const token = await readToken(args.text("token"), signal);
    if (token === "") throw new UsageError("The token is empty.");
    if (!URL.canParse(url)) throw new UsageError("--url must be an http or https address.");
    const profile = args.text("profile") ?? new URL(url).host;
    const { organizations } = await check(url, token);
    const file = savedLoginsFile(environment);
    const saved = readSavedLogins(file);
    saveLogins(file, {
      current: profile,
      profiles: { ...saved.profiles, [profile]: { baseUrl: url.replace(/\/+$/, ""), token } },
    });
    const names = organizations.map(({ name }) => name).join(", ");
    terminal.note(`Logged in to ${url} as ${profile}. Organizations: ${names || "none"}.`, "green");
    return 0;
  },
});

async function check(baseUrl: string, token: string) {
  try {
    return await createClient({ baseUrl, token }).listOrganizations();
  } catch (error) {
    if (error instanceof TypeError) throw new Failure(error.message, { cause: error });
    if (error instanceof SlipwayError && error.status === 401) {
      throw new Failure("The service does not accept this token. Create a new one, and log in again.", {
        cause: error,
      });
    }
    throw error;
  }
}

/** `slipway logout`: removes one login; the token itself stays valid until it is revoked. */
export const logout = command({
  options: { profile: { type: "string", value: "name", describe: "the name of the login (default: the current one)" } },
  run: async (args, { environment, terminal }) => {
    const file = savedLoginsFile(environment);
    const saved = readSavedLogins(file);
    const profile = args.text("profile") ?? saved.current;
    if (profile === null || !Object.hasOwn(saved.profiles, profile)) {
      throw new Failure(profile === null ? "No login is saved." : `There is no saved login ${profile}.`);
    }
    const { [profile]: _, ...profiles } = saved.profiles;
    const current = saved.current === profile ? (Object.keys(profiles)[0] ?? null) : saved.current;
    saveLogins(file, { current, profiles });
    terminal.note(`Removed the login ${profile}.${current === null ? "" : ` The current login is ${current}.`}`);
    return 0;
  },
});
