import { createServer } from "node:http";
import ms from "ms";

const { PORT = "8080", VERSION = "unset" } = process.env;
const since = Date.now();

const server = createServer((_request, response) => {
  response.setHeader("content-type", "text/plain");
  response.end(`Hello from Node.js, VERSION ${VERSION}, up for ${ms(Date.now() - since)}\n`);
});
server.listen(Number(PORT), () => console.log(`VERSION ${VERSION} listens on ${PORT}`));
process.on("SIGTERM", () => server.close());
