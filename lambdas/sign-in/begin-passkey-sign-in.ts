import { beginPasskeySignIn } from "../../api/sign-in.ts";
import { endpoint } from "../http/endpoint.ts";
import { unavailable } from "../http/problem.ts";
import { refuseForeignOrigin } from "./model/cookie.ts";
import { newChallenge, requestOptions } from "./model/passkeys.ts";

export const handler = endpoint(beginPasskeySignIn, async ({ headers, now }, { table, console }) => {
  refuseForeignOrigin(headers);
  const { challenge, write } = newChallenge(undefined, now);
  const outcome = await table.write({ challenge: write });
  if (!outcome.ok) throw unavailable(new Error("A new challenge was refused"));
  return { options: { ...requestOptions(challenge, console) } };
});
