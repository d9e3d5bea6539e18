import { text } from "node:stream/consumers";
import { tokenAccesses } from "../../api/route.ts";
import { createClient } from "../../sdk/client.ts";
import { SlipwayError } from "../../sdk/errors.ts";
import { readSavedLogins, type SavedLogins, savedLoginsFile } from "../../sdk/saved-logins.ts";
import { type Context, command } from "../command.ts";
import { ownServiceUrl } from "../configuration.ts";
import { Failure, UsageError } from "../failure.ts";
import { tokenFromConsole } from "../login/browser.ts";
import { hasDisplay } from "../open-in-browser.ts";
import { saveLogins } from "../save-logins.ts";

type SavedLogin = SavedLogins["profiles"][string];

const options = {
  url: { type: "string", value: "address", describe: "the service (SLIPWAY_URL)" },
  token: { type: "string", value: "token", describe: "use this token instead of the browser; - reads standard input" },
  access: { type: "string", value: "what", describe: "what the token is for: read, deploy or all (default: all)" },
  organization: { type: "string", value: "ids", describe: "only for these organizations, with commas between" },
  "no-browser": { type: "boolean", describe: "print an address, and ask for the code that its page shows" },
  profile: { type: "string", value: "name", describe: "the name of the login (default: the service's host)" },
} as const;

/** `slipway login`: saves a token in a file that only its owner can read. */
export const login = command({
  details:
    "Opens the console, where you agree to a token for this command line. It is kept in\n" +
    "~/.config/slipway/logins.json, readable by its owner only; slipway logout deletes it again.",
  options,
  run: async (args, context) => {
    const { environment, terminal } = context;
    const url = args.text("url") ?? (environment.SLIPWAY_URL || ownServiceUrl(context));
    if (url === undefined) throw new UsageError("Name the service: slipway login --url <address>.");
    if (!URL.canParse(url)) throw new UsageError("--url must be an http or https address.");
    const access = args.text("access") ?? "all";
    if (!tokenAccesses.some((one) => one === access))
      throw new UsageError(`--access must be one of ${tokenAccesses.join(", ")}.`);
    const baseUrl = url.replace(/\/+$/, "");
    const organizationIds = (args.text("organization") ?? "").split(",").filter(Boolean);
    const useBrowser = !args.flag("no-browser") && hasDisplay(environment, process.platform);
    const given = args.text("token");
    const made =
      given === undefined
        ? await fromConsole({ baseUrl, access, organizationIds, useBrowser }, context)
        : { baseUrl, token: await readToken(given, context) };
    const { organizations } = await check(made);
    const profile = args.text("profile") ?? new URL(url).host;
    const file = savedLoginsFile(environment);
    const saved = readSavedLogins(file);
    saveLogins(file, { current: profile, profiles: { ...saved.profiles, [profile]: made } });
    // The replaced token would stay valid, and no saved login would refer to it, so it is deleted.
    const replaced = savedAs(saved, profile);
    if (replaced && replaced.token !== made.token) await deleteToken(replaced).catch(() => undefined);
    const names = organizations.map(({ name }) => name).join(", ");
    terminal.note(`Logged in to ${baseUrl} as ${profile}. Organizations: ${names || "none"}.`, "green");
    return 0;
  },
});

const savedAs = ({ profiles }: SavedLogins, name: string) =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;

async function readToken(given: string, { stdin }: Context): Promise<string> {
  const token = given === "-" ? (await text(stdin)).trim() : given;
  if (token === "") throw new UsageError("The token is empty.");
  return token;
}

async function fromConsole(wanted: Parameters<typeof tokenFromConsole>[0], context: Context): Promise<SavedLogin> {
  const { id, value } = await tokenFromConsole(wanted, context);
  if (value === undefined) throw new Failure("The service sent no token. Run slipway login again.");
  return { baseUrl: wanted.baseUrl, token: value, tokenId: id };
}

async function check(login: SavedLogin) {
  try {
    return await createClient(login).listOrganizations();
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

/** Deletes the token of a login that made its own; one that was given may be used elsewhere. False: it stays valid. */
async function deleteToken(login: SavedLogin): Promise<boolean> {
  const { tokenId } = login;
  if (tokenId === undefined) return false;
  await createClient(login)
    .deleteToken({ tokenId })
    .catch((error: unknown) => {
      const isGone = error instanceof SlipwayError && (error.status === 401 || error.status === 404);
      if (!isGone) throw error;
    });
  return true;
}

/** `slipway logout`: removes one login, and the token that it made. */
export const logout = command({
  details: "A token that was given with --token is not deleted: it may be used elsewhere.",
  options: { profile: { type: "string", value: "name", describe: "the name of the login (default: the current one)" } },
  run: async (args, { environment, terminal }) => {
    const file = savedLoginsFile(environment);
    const saved = readSavedLogins(file);
    const profile = args.text("profile") ?? saved.current;
    const login = profile === null ? undefined : savedAs(saved, profile);
    if (profile === null || login === undefined) {
      throw new Failure(profile === null ? "No login is saved." : `There is no saved login ${profile}.`);
    }
    const { [profile]: _, ...profiles } = saved.profiles;
    const current = saved.current === profile ? (Object.keys(profiles)[0] ?? null) : saved.current;
    saveLogins(file, { current, profiles });
    terminal.note(`Removed the login ${profile}.${current === null ? "" : ` The current login is ${current}.`}`);
    try {
      if (await deleteToken(login)) terminal.note("Deleted its token.");
      else terminal.note("Its token stays valid. Delete it in the console, or with: slipway tokens delete <token-id>");
      return 0;
    } catch (error) {
      throw new Failure(
        `Its token ${login.tokenId} could not be deleted and stays valid (${error instanceof Error ? error.message : String(error)}). Delete it in the console.`,
        { cause: error },
      );
    }
  },
});
