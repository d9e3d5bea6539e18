import { createServer } from "node:http";

const { PORT = "8080" } = process.env;

const server = createServer((request, response) => {
  console.error(`${request.method} ${request.url}: the database is not there`);
  response.statusCode = 500;
  response.end("The database is not there\n");
});
server.listen(Number(PORT), () => console.log(`listens on ${PORT}`));
process.on("SIGTERM", () => server.close());
