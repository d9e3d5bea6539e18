import { createServer } from "node:http";
import { Slipway } from "slipway-sdk";

// Without arguments: a deployed app proves who it is by itself, and needs no key.
const slipway = new Slipway();

createServer(async (request, response) => {
  try {
    const { organizations } = await slipway.listOrganizations();
    response.end(`This app belongs to ${organizations.map(({ name }) => name).join(", ")}.\n`);
  } catch (error) {
    response.statusCode = 500;
    response.end(`${error.message}\n`);
  }
}).listen(process.env.PORT);
