import { createServer } from "node:http";

createServer((request, response) => response.end("Hello from apps/web\n")).listen(process.env.PORT);
