import { Problem } from "../../http/problem.ts";

/** A token, which can be bounded, must not become a passkey, which is not. */
export function signInNeeded(): Problem {
  return new Problem("sign_in_needed", "Only a user who is signed in to the console can add a passkey.");
}
