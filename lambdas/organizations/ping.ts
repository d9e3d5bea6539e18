import { ping } from "../../api/organizations.ts";
import { endpoint } from "../http/endpoint.ts";

export const handler = endpoint(ping, async ({ access }) => {
  await access.read();
  return "pong" as const;
});
