import { createServer } from "node:http";

createServer((request, response) => {
  if (request.url === "/health") return response.end("up\n");
  if (request.method === "POST" && request.url === "/exit") {
    response.end("ending\n");
    return setTimeout(() => process.exit(1), 50);
  }
  response.end(`${process.pid}\n`);
}).listen(process.env.PORT);
