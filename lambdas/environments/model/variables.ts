import { Problem } from "../../http/problem.ts";

/** Names are unique in a project (CONTRACT §4). */
export function nameTaken(name: string): Problem {
  return new Problem("name_taken", `The project already has a variable named ${name}.`);
}
