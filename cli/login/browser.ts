import { createHash, randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import type { connectTool } from "../../api/sign-in.ts";
import { createClient } from "../../sdk/client.ts";
import type { ReplyOf } from "../../sdk/client-types.ts";
import { SlipwayError } from "../../sdk/errors.ts";
import type { Context } from "../command.ts";
import { consolePage } from "../console-page.ts";
import { Failure } from "../failure.ts";
import { openInBrowser } from "../open-in-browser.ts";
import { askSecret } from "../prompt.ts";
import { waitForCode } from "./loopback.ts";

/** What the person is asked to agree to. */
export interface WantedLogin {
  baseUrl: string;
  access: string;
  /** Empty: every organization of the person. */
  organizationIds: readonly string[];
  /** Whether a browser on this machine can be used; if not, the person types the code in. */
  useBrowser: boolean;
}
export type NewToken = ReplyOf<typeof connectTool>["token"];

const randomText = () => randomBytes(32).toString("base64url");

/** The console's page that asks the person. */
function pageOf({ baseUrl, access, organizationIds }: WantedLogin, more: Record<string, string>): string {
  const page = consolePage(baseUrl, "/connect");
  for (const [name, value] of Object.entries({ tool: "slipway", access, ...more })) page.searchParams.set(name, value);
  for (const id of organizationIds) page.searchParams.append("organization", id);
  return page.href;
}

/** Asks for a token in the console (docs/api.md, Sign-in): PKCE, so that only this process can use the code. */
export async function tokenFromConsole(wanted: WantedLogin, context: Context): Promise<NewToken> {
  const verifier = randomText();
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const code = wanted.useBrowser
    ? await codeFromBrowser(wanted, challenge, context)
    : await typedCode(wanted, challenge, context);
  try {
    // The route takes no credential; the client only needs one to be made.
    const { token } = await createClient({ baseUrl: wanted.baseUrl, token: "none" }).connectTool({ code, verifier });
    return token;
  } catch (error) {
    if (!(error instanceof SlipwayError) || error.status !== 401) throw error;
    throw new Failure("The code is wrong, was used before, or is older than 5 minutes. Run slipway login again.", {
      cause: error,
    });
  }
}

async function codeFromBrowser(wanted: WantedLogin, challenge: string, context: Context): Promise<string> {
  const { terminal, signal } = context;
  const state = randomText();
  return waitForCode(state, signal, async (redirect) => {
    const page = pageOf(wanted, { challenge, redirect, state });
    const isOpen = await openInBrowser(page);
    terminal.note(isOpen ? "Agree in the browser, or open this address:" : "Open this address on this machine:");
    terminal.note(page);
  });
}

async function typedCode(
  wanted: WantedLogin,
  challenge: string,
  { terminal, stdin, signal }: Context,
): Promise<string> {
  terminal.note("Open this address in a browser, agree, and enter the code that it shows:");
  terminal.note(pageOf(wanted, { challenge }));
  const given = stdin.isTTY ? await askSecret("Code: ", signal) : await text(stdin);
  const code = given.trim();
  if (code === "") throw new Failure("No code was given. To log in without a browser, use: slipway login --token -");
  return code;
}
